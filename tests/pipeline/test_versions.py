"""The versions that a result depends on name folders that exist."""

import re
from importlib import resources
from pathlib import Path

from phiscan.pipeline import versions


def test_every_folder_of_weights_holds_some() -> None:
    package = Path(str(resources.files("phiscan")))
    found = {path.parent.parent.name for path in package.rglob("data/*.npz")}
    assert found == set(versions.MODEL_PACKAGES)


def test_the_code_of_every_package_that_results_depend_on_counts() -> None:
    package = Path(str(resources.files("phiscan")))
    text = "\n".join(
        path.read_text()
        for name in ("screen", "decision", "health")
        for path in (package / name).rglob("*.py")
    )
    imported = set(re.findall(r"^from phiscan\.(\w+)", text, re.MULTILINE))
    packages = {name for name in imported if (package / name).is_dir()}
    assert packages <= set(versions.CODE_PACKAGES)
