"""Write requirements.lock: every package of constraints.txt with its version and the sha256 of its file.

    python scripts/lock.py [--check]

pip chooses the file for this platform and Python, those that CI runs; on another one the lock is made there.
`--check` compares and changes nothing. Where files come from is pip's configuration; no host is written.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
TOOLS = ("pip", "hatchling", "editables")
HEAD = (
    "# Every package with the sha256 of its file, for CPython {python} on Linux x86_64; made by `make lock`.",
    "# Use: pip install --require-hashes -r requirements.lock, then --no-deps --no-build-isolation -e .",
)


def chosen() -> list[dict[str, Any]]:
    """Return what pip would install into an empty environment, without installing it."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
        command += ["--no-build-isolation", "--report", str(report), "-c", str(ROOT / "constraints.txt")]
        subprocess.run([*command, *TOOLS, f"{ROOT}[dev]"], check=True, cwd=ROOT)
        found: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return [one for one in found if "archive_info" in one["download_info"]]


def lines_of(packages: list[dict[str, Any]]) -> list[str]:
    """Return one line for each package, by name."""
    found = []
    for one in packages:
        name = re.sub(r"[-_.]+", "-", one["metadata"]["name"]).lower()
        digest = one["download_info"]["archive_info"]["hashes"]["sha256"]
        found.append(f"{name}=={one['metadata']['version']} --hash=sha256:{digest}")
    return sorted(found)


def main() -> int:
    """Write the lock, or compare it; return the exit status."""
    head = [line.format(python=".".join(map(str, sys.version_info[:2]))) for line in HEAD]
    text = "\n".join([*head, *lines_of(chosen())]) + "\n"
    if "--check" in sys.argv[1:]:
        is_same = LOCK.exists() and LOCK.read_text(encoding="utf-8") == text
        print("requirements.lock is up to date" if is_same else "requirements.lock differs: run `make lock`")
        return 0 if is_same else 1
    LOCK.write_text(text, encoding="utf-8")
    print(f"requirements.lock: {len(text.splitlines()) - len(head)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
