"""``python -m phiscan``: the same program as the ``phiscan`` script."""

from phiscan.cli import main

if __name__ == "__main__":
    main()
