"""Write sbom.json: what is installed with phiscan, as a CycloneDX 1.6 bill of materials.

    python scripts/sbom.py [FILE]

Components come from importlib.metadata, hashes from requirements.lock where the version is the same. Only
what phiscan needs to run is listed, with its optional extras where they are installed; nothing of the tests.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections import deque
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("", "postgresql", "smb", "s3", "cluster", "schedule", "oidc", "ocr", "parquet", "statistics")
_PINNED = re.compile(r"^(\S+)==(\S+) --hash=sha256:([0-9a-f]{64})$", re.MULTILINE)


def canonical(name: str) -> str:
    """Return a package's name as package indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name: str, extras: tuple[str, ...]) -> list[str]:
    """Return the installed packages that a package asks for on this platform."""
    found = []
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": e}) for e in extras):
            try:
                metadata.version(requirement.name)
            except metadata.PackageNotFoundError:
                continue  # an extra that is not installed
            found.append(canonical(requirement.name))
    return sorted(set(found))


def tree() -> dict[str, list[str]]:
    """Return each package that phiscan needs with those that it needs itself."""
    found = {"phiscan": needed("phiscan", EXTRAS)}
    waiting = deque(found["phiscan"])
    while waiting:
        name = waiting.popleft()
        if name not in found:
            found[name] = needed(name, ("",))
            waiting += found[name]
    return found


def component(name: str, hashes: dict[tuple[str, str], str]) -> dict[str, Any]:
    """Return one package as a component."""
    about = metadata.metadata(name)
    version = metadata.version(name)
    made: dict[str, Any] = {
        "type": "application" if name == "phiscan" else "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
    }
    if licence := about.get("License-Expression"):
        made["licenses"] = [{"expression": licence}]
    else:
        named = [
            line.rpartition(" :: ")[2] for line in about.get_all("Classifier", []) if "License ::" in line
        ]
        if named:
            made["licenses"] = [{"license": {"name": one}} for one in sorted(set(named))]
    if digest := hashes.get((name, version)):
        made["hashes"] = [{"alg": "SHA-256", "content": digest}]
    return made


def bill(now: datetime) -> dict[str, Any]:
    """Return the bill of materials of this environment."""
    lock = ROOT / "requirements.lock"
    pins = _PINNED.findall(lock.read_text(encoding="utf-8")) if lock.exists() else []
    hashes = {(name, version): digest for name, version, digest in pins}
    packages = tree()
    made = {name: component(name, hashes) for name in sorted(packages)}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(made, sort_keys=True))
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"timestamp": f"{now:%Y-%m-%dT%H:%M:%SZ}", "component": made["phiscan"]},
        "components": [one for name, one in made.items() if name != "phiscan"],
        "dependencies": [
            {"ref": made[name]["bom-ref"], "dependsOn": [made[other]["bom-ref"] for other in packages[name]]}
            for name in made
        ],
    }


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "sbom.json")
    text = bill(datetime.now(UTC))
    place.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
    print(f"{place}: {len(text['components'])} components")
