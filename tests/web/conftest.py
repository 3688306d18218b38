"""A desk over a small scanned share, with one person of every role."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, NoReturn

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from phiscan.config import Config
from phiscan.errors import ConflictError
from phiscan.pipeline.rereading.reveal import Rereader
from phiscan.review.accounts import passwords
from phiscan.review.accounts.users import Role
from phiscan.review.decisions.writing import Examined
from phiscan.review.store import Store
from phiscan.visible import visible
from phiscan.web import report_builds
from phiscan.web.app import create_app
from tests.review.conftest import QUICK, quick_hashes
from tests.review.results import NOW, scan, url_of
from tests.web.clock import Clock

__all__ = ("quick_hashes",)  # a fixture
PASSWORD = "correct horse battery"
ESCAPED_TWICE = re.compile(r"&amp;(?:#\d+|#x[0-9a-f]+|lt|gt|quot|amp|apos|nbsp);.{0,40}")
OWN = {"sec-fetch-site": "same-origin"}  # what a browser says of our own forms


def _refuse_escaped_twice(answer: httpx.Response) -> None:
    """Refuse a page on which a reader sees ``&#39;`` or ``&lt;``: no file of these tests is named so."""
    answer.read()
    if "html" in answer.headers.get("content-type", ""):
        assert (found := ESCAPED_TWICE.search(answer.text)) is None, (str(answer.url), found)


class Browser(TestClient):
    """A browser that says that its requests come from our own pages, and follows no redirect."""

    opened: ClassVar[list["Browser"]] = []

    def __init__(self, app: FastAPI, address: str = "192.0.2.1") -> None:
        super().__init__(
            app,
            base_url="http://localhost",
            follow_redirects=False,
            raise_server_exceptions=False,
            client=(address, 50_000),
            headers=OWN,
        )
        self.event_hooks = {"response": [_refuse_escaped_twice]}
        self.__enter__()  # one event loop for all its requests; else each starts its own
        Browser.opened.append(self)

    def sign_in(self, name: str, password: str = PASSWORD) -> "Browser":
        answer = self.post("/sign-in", data={"name": name, "password": password})
        assert answer.status_code == 303, answer.text
        return self


Visit = Callable[[str], Browser]


class NoShare(Rereader):
    """Says of every file that it is gone, without a process: no file of these tests is there."""

    def _ask(self, job: object, examined: Examined) -> NoReturn:  # noqa: ARG002 (the signature)
        message = f"{visible(examined.source.display)}: it is gone"
        raise ConflictError(message)


@pytest.fixture(autouse=True)
def _close_browsers() -> Iterator[None]:
    yield
    while Browser.opened:
        Browser.opened.pop().__exit__()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the database once: its tables take a while, a copy of the file none."""
    path = tmp_path_factory.mktemp("web") / "phiscan.db"
    with pytest.MonkeyPatch.context() as patch, Store.open(url_of(path), create=True) as store:
        patch.setattr(passwords, "_HASHER", QUICK)
        scan(store)
        for role in Role:
            store.users.add(name=role.value, role=role, password=PASSWORD, by="test", now=NOW)
    return path


@pytest.fixture
def store(made_once: Path, tmp_path: Path) -> Iterator[Store]:
    """Open a copy with one scan and one account of each role, named as the role."""
    shutil.copy(made_once, tmp_path / "phiscan.db")
    with Store.open(url_of(tmp_path / "phiscan.db")) as opened:
        yield opened


@pytest.fixture
def report_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reports in this process, where the process of their own is not what is tested."""

    monkeypatch.setattr(report_builds, "build", report_builds.attempt)


@pytest.fixture(scope="session")
def made_app(made_once: Path) -> FastAPI:
    """Make the application once: its hundred routes take a moment."""
    with Store.open(url_of(made_once)) as store:
        app = create_app(store, Config())
    app.state.as_made = replace(app.state.desk, rereader=NoShare(Config()))
    return app


@pytest.fixture
def app(made_app: FastAPI, store: Store, clock: Clock) -> FastAPI:
    """Serve the store of a test; what the test before it changed of the desk is undone."""
    made_app.state.desk = replace(made_app.state.as_made, store=store, now=clock)
    return made_app


@pytest.fixture
def browser(app: FastAPI) -> Visit:
    """Return what signs somebody in; "" = nobody."""

    def make(name: str = "") -> Browser:
        made = Browser(app)
        return made.sign_in(name) if name else made

    return make
