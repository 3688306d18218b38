"""A scan that was started by root: its workers become nobody, and if they cannot, it is refused."""

from __future__ import annotations

import os

from phiscan.cli.output import say
from phiscan.errors import ConfigError
from phiscan.sandbox.isolation import probe


def check_root(*, allowed: bool) -> None:
    """Warn whoever scans as root in one line; nothing is tried where root was allowed.

    Raises:
        ConfigError: neither Landlock nor another user id keeps a worker from what root can open.
    """
    if os.geteuid() != 0 or allowed:
        return
    layers = {layer.name: layer for layer in probe()}
    if layers["user"].is_on:
        say("phiscan: started as root, which workers give up; better run it as another user")
        return
    if layers["landlock"].is_on:
        say("phiscan: started as root, and workers stay root, kept in by Landlock; better run it as a user")
        return
    message = (
        "started as root, and workers could open what root can: there is no Landlock here "
        f"({layers['landlock'].detail}), and {layers['user'].detail}; "
        "run it as another user, or say --allow-root"
    )
    raise ConfigError(message)
