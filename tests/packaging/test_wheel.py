"""The data files are found in an installed wheel, not only in a checkout."""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from phiscan.cli import app

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_all_data_and_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    for folder in ("patterns", "dictionaries"):
        shipped = {p.name for p in (CHECKOUT / folder).iterdir() if p.suffix in {".toml", ".txt"}}
        assert shipped
        assert {f"phiscan/data/{folder}/{name}" for name in shipped} <= names
    inside = [p for p in (CHECKOUT / "phiscan").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert {str(p.relative_to(CHECKOUT)) for p in inside} <= names
    assert not any(name.startswith(("tests/", "sample_corpus/", "papers/", "training/")) for name in names)


def test_every_required_package_is_imported_by_the_program() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = "\n".join(path.read_text(encoding="utf-8") for path in (CHECKOUT / "phiscan").rglob("*.py"))
    imported = set(re.findall(r"^\s*(?:from|import) (\w+)|import_module\(f?\"(\w+)", source, re.MULTILINE))
    modules = {name for pair in imported for name in pair}
    by_package: dict[str, set[str]] = {}
    for module, packages in metadata.packages_distributions().items():
        for package in packages:
            by_package.setdefault(re.sub(r"[-_.]+", "-", package).lower(), set()).add(module)
    names = [re.split(r"[\[<>=]", text)[0] for text in project["dependencies"]]
    required = {re.sub(r"[-_.]+", "-", name).lower() for name in names}
    # Loaded by FastAPI where a form is posted.
    unused = {name for name in required - {"python-multipart"} if not by_package[name] & modules}
    assert unused == set()


def test_a_command_of_the_checkout_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "papers"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "path", [item for item in sys.path if Path(item).resolve() != CHECKOUT])
    for words in (["score", "ranking", "a.csv"], ["benchmark", "i2b2"]):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 2
        assert "needs a checkout of phiscan's source: its folder papers/ is not installed" in done.output
    assert "Score the labels" in CliRunner().invoke(app, ["score", "--help"]).output


@pytest.mark.slow
def test_installed_wheel_scans_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)  # what installing does; the libraries come from the environment
    share = tmp_path / "share"
    share.mkdir()
    (share / "a.txt").write_text("Patient: Quenna Vandelune, diagnosis: type 2 diabetes, tel 613-555-0142\n")
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import phiscan; "
        "assert 'site' in phiscan.__file__, phiscan.__file__; from phiscan.cli import main; main()"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            code,
            str(site),
            "scan",
            str(share),
            "--json",
            "--exit-zero",
            "--workers",
            "1",
        ],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(site), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"screened": 1' in done.stdout
    assert '"failed": {}' in done.stdout
