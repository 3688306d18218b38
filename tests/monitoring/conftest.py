"""The home of the command tests."""

from tests.cli.conftest import home, scanned

__all__ = ["home", "scanned"]
