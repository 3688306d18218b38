"""The page on the architecture names files and layers that exist."""

import re
import tomllib

from tests.docs.generated import DOCS

ROOT = DOCS.parent
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")


def test_every_path_that_is_named_exists() -> None:
    paths = re.findall(r"`([a-z_0-9]+/[\w./]*)`", PAGE)
    assert len(paths) > 50
    missing = [path for path in paths if not any((base / path).exists() for base in (ROOT, ROOT / "phiscan"))]
    assert missing == []


def test_the_layers_are_those_of_the_import_rule() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [re.findall(r"\w+", layer) for layer in contracts["contracts"][0]["layers"]]
    lines = PAGE.partition("## Layers")[2].splitlines()
    shown = [set(re.findall(r"\w+", line)) for line in lines if line.startswith("    ")]
    assert shown == [names for layer in layers if (names := set(layer) - {"phiscan", "__main__"})]


def test_every_name_of_the_code_that_the_page_gives_is_in_the_code() -> None:
    names = set(re.findall(r"`([A-Za-z]*_[A-Za-z_]+|[A-Z]{4,})`", PAGE)) - {"LICENSE"}
    assert len(names) > 20
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("phiscan", "training")
        for path in (ROOT / folder).rglob("*.py")
    )
    known = set(re.findall(r"\w+", code))
    assert names - known == set()
