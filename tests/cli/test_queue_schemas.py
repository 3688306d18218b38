"""What queue, audit and init print with --json is what the published schemas say."""

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from phiscan.cli import app
from tests.empty_database import new_store
from tests.review.results import scan

SCHEMAS = Path(__file__).parents[2] / "docs" / "reference" / "schemas"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHISCAN_HOME", str(tmp_path / "home"))
    for name in ("PHISCAN_DATABASE", "PHISCAN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    with new_store(tmp_path / "home" / "phiscan.db") as store:
        scan(store)


def objects(arguments: str) -> list[dict[str, object]]:
    result = CliRunner().invoke(app, arguments.split(), catch_exceptions=False)
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ("queue-export", "queue export --json"),
        ("queue-export", "queue export --json --all"),
        ("queue-list", "queue list --json"),
        ("queue-show", "queue show 1 --json"),
        ("queue-show", "queue show b/broken.docx --json"),
        ("queue-decide", "queue decide 1 --verdict phi --reviewer ada --json"),
        ("queue-assign", "queue assign 1 --to bea --by ada --json"),
        ("audit-verify", "audit verify --json"),
        ("init", "init --json"),
    ],
)
def test_output_has_the_published_shape(schema: str, arguments: str) -> None:
    text = (SCHEMAS / f"{schema}.json").read_text(encoding="utf-8")
    if schema.startswith("queue-show"):
        objects("queue decide 1 --verdict unsure --reviewer ada --json")
    shape = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(shape)
    found = objects(arguments)
    assert found
    for one in found:
        jsonschema.validate(one, shape, cls=jsonschema.Draft202012Validator)


def test_the_shape_of_an_export_refuses_what_is_not_one() -> None:
    shape = json.loads((SCHEMAS / "queue-export.json").read_text(encoding="utf-8"))
    (one, *_rest) = objects("queue export --json")
    for change in ({"decision": "maybe"}, {"detectors": {}}, {"extra": 1}, {"hamming": -1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**one, **change}, shape)
