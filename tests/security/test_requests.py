"""Requests that a front server and ours could read differently, and formats that nobody sends."""

import pytest
from starlette.datastructures import Headers

from phiscan.web.protection import _unknown_format, refused
from phiscan.web.request_context import Settings


def test_a_request_with_two_lengths_is_refused() -> None:
    headers = Headers({"host": "localhost", "content-length": "3", "transfer-encoding": "chunked"})
    assert refused("GET", headers, Settings()) == "refused: two lengths of one body"
    alone = Headers({"host": "localhost", "content-length": "3"})
    assert refused("GET", alone, Settings()) == ""


@pytest.mark.parametrize(
    ("path", "query", "problem"),
    [
        ("/api/v1/items", b"format=xml", "format: expected json"),
        ("/api/v1/items", b"format=json&format=csv", "format: expected json"),
        ("/api/v1/items", b"format=json", ""),
        ("/queue", b"format=csv", "format: expected html"),
        ("/queue", b"state=phi", ""),
    ],
)
def test_an_unknown_format_is_refused(path: str, query: bytes, problem: str) -> None:
    assert _unknown_format({"path": path, "query_string": query}) == problem
