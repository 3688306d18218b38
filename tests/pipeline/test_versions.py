"""The versions that a result depends on name folders that exist."""

from importlib import resources
from pathlib import Path

from phiscan.pipeline import versions


def test_every_folder_of_weights_holds_some() -> None:
    package = Path(str(resources.files("phiscan")))
    found = {path.parent.parent.name for path in package.rglob("data/*.npz")}
    assert found == set(versions.MODEL_PACKAGES)
