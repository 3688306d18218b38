"""Scans started by root: the workers change to the user nobody; if they cannot, the scan is refused."""

from __future__ import annotations

import os

from phiscan.cli.output import print_message
from phiscan.errors import ConfigError
from phiscan.sandbox.isolation import probe


def check_root(*, allowed: bool) -> None:
    """Print one warning line for a scan as root, unless root was allowed.

    Raises:
        ConfigError: neither Landlock nor another user id restricts a worker to the files of the scan.
    """
    if os.geteuid() != 0 or allowed:
        return
    layers = {layer.name: layer for layer in probe()}
    if layers["user"].is_on:
        print_message("phiscan: started as root, which workers give up; better run it as another user")
        return
    if layers["landlock"].is_on:
        print_message(
            "phiscan: started as root, and workers stay root, kept in by Landlock; better run it as a user"
        )
        return
    message = (
        "started as root, and workers could open what root can: there is no Landlock here "
        f"({layers['landlock'].detail}), and {layers['user'].detail}; "
        "run it as another user, or say --allow-root"
    )
    raise ConfigError(message)
