"""One length, in nats, by which formulas are compared: structure + constants + data + noise model (ADR 25).

``Judge`` is built once from the rows and prices any formula with numbers in it.  It proposes and fits nothing.
"""
