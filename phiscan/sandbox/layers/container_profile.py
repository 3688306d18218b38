"""The seccomp profile of a container in which workers can isolate themselves, as Docker reads it.

Docker's own profile refuses namespaces to whoever has no capabilities. This one refuses what no part of
phiscan has a use for, and leaves to the workers what they need to give up the rest. ``compose/seccomp.json``
is made with ``python -m phiscan.sandbox.layers.container_profile``.
"""

from __future__ import annotations

import json
import sys

from phiscan.sandbox.layers.seccomp import refused

# What the container as a whole needs: programs, sockets, rights on its own files; and namespaces for workers.
_NEEDED = frozenset(
    {"execve", "execveat", "fork", "vfork", "tkill", "setpriority", "ioprio_set", "personality"}
    | {"sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "pidfd_open"}
    | {"pidfd_send_signal", "socket", "connect", "bind", "listen", "accept", "accept4"}
    | {"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"}
    | {"utime", "utimes", "futimesat", "utimensat", "shmget", "shmctl", "shmat", "semget"}
    | {"unshare", "mount", "mount_setattr"}
)


def profile() -> dict[str, object]:
    """Return the profile; calls that are not on its list are allowed."""
    names = sorted(name for name in refused() if name not in _NEEDED)
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"]},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": ["SCMP_ARCH_ARM"]},
        ],
        "syscalls": [{"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": 1}],
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(profile(), indent=2) + "\n")
