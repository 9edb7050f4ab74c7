"""Random tests draw the same examples every time; HYPOTHESIS_PROFILE=random draws new ones, and more of them."""

import os

from hypothesis import settings

# The built-in profile for servers: the same examples, no deadline, no files.
settings.register_profile("repeatable", settings.get_profile("ci"))
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
