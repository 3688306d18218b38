"""What queue, audit and init print with --json is what the published schemas say."""

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from phiscan.cli import app

SCHEMAS = Path(__file__).parents[2] / "docs" / "reference" / "schemas"


def objects(arguments: str) -> list[dict[str, object]]:
    result = CliRunner().invoke(app, arguments.split(), catch_exceptions=False)
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_output_has_the_published_shape(scanned: Path) -> None:
    assert scanned.is_dir()
    objects("queue decide 1 --verdict unsure --reviewer ada --json")
    for schema, arguments in (
        ("queue-export", "queue export --json"),
        ("queue-export", "queue export --json --all"),
        ("queue-list", "queue list --json"),
        ("queue-show", "queue show 1 --json"),
        ("queue-show", "queue show b/broken.docx --json"),
        ("queue-decide", "queue decide 1 --verdict phi --reviewer ada --json"),
        ("queue-assign", "queue assign 1 --to bea --by ada --json"),
        ("audit-verify", "audit verify --json"),
        ("init", "init --json"),
    ):
        shape = json.loads((SCHEMAS / f"{schema}.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(shape)
        found = objects(arguments)
        assert found
        for one in found:
            jsonschema.validate(one, shape, cls=jsonschema.Draft202012Validator)


def test_the_shape_of_an_export_refuses_what_is_not_one(scanned: Path) -> None:
    assert scanned.is_dir()
    shape = json.loads((SCHEMAS / "queue-export.json").read_text(encoding="utf-8"))
    (one, *_rest) = objects("queue export --json")
    for change in ({"decision": "maybe"}, {"detectors": {}}, {"extra": 1}, {"hamming": -1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**one, **change}, shape)
