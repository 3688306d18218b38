"""The program: ``phiscan`` and ``python -m phiscan``.

Signal handlers are installed before other imports, so that an early signal also ends with exit status 4.
"""

import resource
from contextlib import suppress

from phiscan import stopping


def main() -> None:
    """Run the program; its exit status is described in ``phiscan.cli.main``."""
    stopping.install()
    with suppress(OSError, ValueError):  # a core dump would contain keys, passwords and revealed texts
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with stopping.importing():
        from phiscan.cli import main as run  # noqa: PLC0415 (after the signal handlers)
    try:
        run()
    except SystemExit as error:
        stopping.finish(error.code if isinstance(error.code, int) else 0)
        raise


if __name__ == "__main__":
    main()
