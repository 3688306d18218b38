"""The program: ``phiscan`` and ``python -m phiscan``.

Signals are answered before anything else is imported: one that arrives early ends with exit status 4, too.
"""

import resource
from contextlib import suppress

from phiscan import stopping


def main() -> None:
    """Run the program; what it ends with is said in ``phiscan.cli.main``."""
    stopping.install()
    with suppress(OSError, ValueError):  # a core dump would hold keys, passwords and texts that were revealed
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with stopping.importing():
        from phiscan.cli import main as run  # noqa: PLC0415 (after the signals are answered)
    try:
        run()
    except SystemExit as error:
        stopping.finish(error.code if isinstance(error.code, int) else 0)
        raise


if __name__ == "__main__":
    main()
