"""systemd units for a schedule: a timer that fires every few minutes, and a hardened service.

The service runs ``phiscan schedule run NAME --due``, which checks the times, so that windows, time zones,
missed starts and unfinished scans are handled in one place instead of in systemd's calendar format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from phiscan.errors import InputError
from phiscan.schedule.plan import Schedule

_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\$?")  # a user name that systemd accepts, or a number
TIMER = """\
[Unit]
Description=phiscan: start the scan {name} if its time has come

[Timer]
OnCalendar=*:0/5
RandomizedDelaySec=20
Persistent=true

[Install]
WantedBy=timers.target
"""
# No RestrictNamespaces and no MemoryDenyWriteExecute: the sandbox of the extractors uses a network
# namespace, and ctypes needs executable memory.
SERVICE = """\
[Unit]
Description=phiscan: the scan {name}
After=network-online.target remote-fs.target
Wants=network-online.target

[Service]
Type=oneshot
ExecStart={command}
SuccessExitStatus=1 3 4
TimeoutStartSec=infinity
TimeoutStopSec=200
KillMode=mixed
User={user}
WorkingDirectory={folder}
Environment={home}
UMask=0077
Nice=10
IOSchedulingClass=idle
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_DAC_READ_SEARCH CAP_SYS_ADMIN
ProtectSystem=strict
ProtectHome=read-only
ReadWritePaths={writable}
ReadOnlyPaths={readable}
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
"""


def units(
    schedule: Schedule, *, command: Sequence[str], user: str, folder: Path, home: Path
) -> dict[str, str]:
    """Return the units by file name. ``command`` runs phiscan with its configuration.

    Raises:
        InputError: a user or folder that a unit cannot contain.
    """
    if not _USER.fullmatch(user):
        message = f"user: expected a user's name or number, got {user!r}"
        raise InputError(message)
    if not str(folder).isprintable():
        raise InputError(folder, "a unit cannot name a folder with such characters; expected printable ones")
    words = [*command, "schedule", "run", schedule.name, "--due"]
    mounted = [root for root in schedule.roots if root.startswith("/")]
    return {
        f"phiscan-{schedule.name}.timer": TIMER.format(name=schedule.name),
        f"phiscan-{schedule.name}.service": SERVICE.format(
            name=schedule.name,
            command=" ".join(map(_quoted, words)),
            user=user,
            folder=_escaped(str(folder)),
            # Set explicitly, so that the service uses the home that it may write to.
            home=_in_quotes(_escaped(f"PHISCAN_HOME={home}")),
            writable=_quoted(str(home)),
            readable=" ".join(_quoted(root) for root in mounted),
        ),
    }


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


def _quoted(word: str) -> str:
    r"""Quote a word of a unit file; ``%`` and ``$`` would be replaced by systemd.

    >>> _quoted("/srv/50% off"), _quoted("/srv/share")
    ('"/srv/50%% off"', '/srv/share')
    """
    text = _escaped(word).replace("$", "$$")
    return _in_quotes(text) if any(char in text for char in " \t\"'\\;\n") else text


def _in_quotes(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'
