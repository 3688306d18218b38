"""The lock names every package with its hash; the bill of materials lists what phiscan runs with."""

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

CHECKOUT = Path(__file__).parents[2]
LINE = re.compile(r"([a-z0-9-]+)==(\S+) --hash=sha256:([0-9a-f]{64})")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, tuple[str, str]]:
    lines = (CHECKOUT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in lines:
        if not line.startswith("#"):
            match = LINE.fullmatch(line)
            assert match, line
            found[match[1]] = (match[2], match[3])
    return found


def test_the_lock_has_the_versions_of_the_constraints_and_every_dependency() -> None:
    lines = (CHECKOUT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    versions = {canonical(name): version for name, version in pinned.items()}
    found = locked()
    assert {name: version for name, (version, _) in found.items() if versions[name] != version} == {}
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = {canonical(Requirement(text).name) for text in project["dependencies"]}
    assert len(core) > 30
    assert core - found.keys() == set()


def test_no_file_of_the_lock_names_a_host() -> None:
    for name in ("requirements.lock", "constraints.txt"):
        text = (CHECKOUT / name).read_text(encoding="utf-8")
        assert "://" not in text
        assert "index-url" not in text


def test_the_bill_of_materials_lists_what_phiscan_needs_with_the_hashes_of_the_lock(tmp_path: Path) -> None:
    place = tmp_path / "sbom.json"
    subprocess.run([sys.executable, CHECKOUT / "scripts" / "sbom.py", place], check=True, capture_output=True)
    bill = json.loads(place.read_text(encoding="utf-8"))
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    components = {one["name"]: one for one in bill["components"]}
    core = [Requirement(text) for text in metadata.requires("phiscan") or ()]
    assert {canonical(one.name) for one in core if one.marker is None} <= components.keys()
    assert "pytest" not in components
    found = locked()
    for name, one in components.items():
        assert one["purl"] == one["bom-ref"] == f"pkg:pypi/{name}@{one['version']}"
        if "hashes" in one:
            assert one["hashes"] == [{"alg": "SHA-256", "content": found[name][1]}]
    assert sum("hashes" in one for one in components.values()) > len(components) // 2
    refs = {one["bom-ref"] for one in (*components.values(), bill["metadata"]["component"])}
    for one in bill["dependencies"]:
        assert {one["ref"], *one["dependsOn"]} <= refs
