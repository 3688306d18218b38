"""The home of the command tests."""

from tests.cli.conftest import home, scanned, scanned_once

__all__ = ["home", "scanned", "scanned_once"]
