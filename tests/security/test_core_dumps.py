"""No process of the program leaves a core dump: its memory holds keys, passwords and revealed texts."""

import resource
import subprocess
import sys

PROGRAM = """
import resource, subprocess, sys
from phiscan import __main__, cli
def main():
    print(resource.getrlimit(resource.RLIMIT_CORE))
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))"
    print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
cli.main = main
__main__.main()
"""


def test_neither_the_program_nor_what_it_starts_leaves_a_core_dump() -> None:
    def allow() -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, preexec_fn=allow
    )
    assert done.stdout.split("\n")[:2] == ["(0, 0)", "(0, 0)"]
