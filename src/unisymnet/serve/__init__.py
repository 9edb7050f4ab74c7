"""The page: `unisymnet serve`, a search one can watch, steer and share in the browser.

A run is a folder. A worker, a process of its own, appends what happens to `events.jsonl` there; the server only reads
files and tails that one, so that neither a closed browser nor a killed server loses anything. Needs the extra `web`.
"""
