"""What queue, audit and init print with --json is what the published schemas say."""

import json

import jsonschema
import pytest

from tests.cli.program import as_published, lines, run

pytestmark = pytest.mark.usefixtures("scanned")


def test_output_has_the_published_shape() -> None:
    run("queue", "decide", "1", "--verdict", "unsure", "--reviewer", "ada")
    for schema, arguments in (
        ("queue-export", "queue export"),
        ("queue-export", "queue export --all"),
        ("queue-list", "queue list"),
        ("queue-show", "queue show 1"),
        ("queue-show", "queue show b/broken.docx"),
        ("queue-decide", "queue decide 1 --verdict phi --reviewer ada"),
        ("queue-assign", "queue assign 1 --to bea --by ada"),
        ("audit-verify", "audit verify"),
        ("init", "init"),
    ):
        printed = run(*arguments.split(), "--json").splitlines()
        assert printed
        for line in printed:
            as_published(schema, line)


def test_the_shape_of_an_export_refuses_what_is_not_one() -> None:
    (one, *_rest) = lines(run("queue", "export", "--json"))
    for change in ({"decision": "maybe"}, {"detectors": {}}, {"extra": 1}, {"hamming": -1}):
        with pytest.raises(jsonschema.ValidationError):
            as_published("queue-export", json.dumps({**one, **change}))
