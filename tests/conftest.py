"""Settings of all tests."""

import os

from hypothesis import settings

# CI tries the same examples each time, so that a change is judged by what it changed; elsewhere they vary.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

pytest_plugins = ("tests.postgresql",)
