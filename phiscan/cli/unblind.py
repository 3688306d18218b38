"""``--unblind NAME``: an operator may see what a second person is still to judge blind, and it is logged."""

from __future__ import annotations

import click

unblind_option = click.option(
    "--unblind",
    metavar="NAME",
    help="Also show first verdicts that await a blind second one; NAME is recorded in the audit log."
    " Show it to nobody who reviews.",
)
