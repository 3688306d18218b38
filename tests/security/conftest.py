"""The databases of the review tests, for attacks on them."""

from tests.review.conftest import (
    database,
    postgresql_template,
    pytest_generate_tests,
    quick_hashes,
    server,
    sqlite_template,
    store,
    url,
)

__all__ = [
    "database",
    "postgresql_template",
    "pytest_generate_tests",
    "quick_hashes",
    "server",
    "sqlite_template",
    "store",
    "url",
]
