"""A desk in a process of its own over the scanned sample share, and a browser that looks at it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from phiscan.review.accounts import passwords
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from tests.browser.share import make_share
from tests.needs import needs
from tests.review.conftest import QUICK

PASSWORD = "correct horse battery"
PEOPLE = {
    "Ann": Role.REVIEWER,
    "Bob": Role.REVIEWER,
    "Lea": Role.LEAD,
    "Rea": Role.READER,
    "Aud": Role.AUDITOR,
    "Adm": Role.ADMIN,
    "Owe": Role.OWNER,
}
CHROMIUM = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STARTS_S = 240.0  # an ordinary one takes seconds; a machine with two cores and other work, more
WAITS_MS = 120_000  # for a page, on a busy machine


@dataclass(frozen=True)
class Server:
    """A running desk."""

    url: str
    home: Path

    def store(self) -> Store:
        return Store.open(f"sqlite:///{self.home / 'phiscan.db'}")


@dataclass
class Seat:
    """A person before a browser. Everything that the console complains about is kept."""

    page: Page
    context: BrowserContext
    url: str
    complaints: list[str]

    def go(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def press(self, key: str) -> str:
        """Press a key that leads to another page; return its address."""
        with self.page.expect_navigation():
            self.page.keyboard.press(key)
        return self.page.url.removeprefix(self.url)

    def click(self, selector: str) -> str:
        """Press a link or button that leads to another page; return its address."""
        with self.page.expect_navigation():
            self.page.click(selector)
        return self.page.url.removeprefix(self.url)

    def said(self) -> str:
        """Return what the page says was just done; its script writes the words anew, to be spoken."""
        self.page.wait_for_function(
            "() => document.querySelector('.flash p')?.textContent"
        ) if self.scripted else None
        return self.page.inner_text(".flash p")

    scripted: bool = True


@pytest.fixture(scope="session")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scan the sample share and some hostile names once; every test works on a copy of the database."""
    needs("chromium")
    folder = tmp_path_factory.mktemp("desk")
    share, home = folder / "share", folder / "home"
    make_share(share)
    environ = {**os.environ, "PHISCAN_HOME": str(home), "PYTHONPATH": str(Path.cwd())}
    for arguments in (["init", str(home)], ["scan", str(share), "--exit-zero"]):
        subprocess.run([sys.executable, "-m", "phiscan", *arguments], env=environ, cwd=folder, check=True)
    with pytest.MonkeyPatch.context() as patch, Store.open(f"sqlite:///{home / 'phiscan.db'}") as store:
        patch.setattr(passwords, "_HASHER", QUICK)
        now = datetime.now(UTC)
        for name, role in PEOPLE.items():
            store.users.add(name=name, role=role, password=PASSWORD, by="test", now=now)
    return home


@pytest.fixture
def server(scanned: Path, tmp_path: Path) -> Iterator[Server]:
    """Serve a copy of the scanned home on a free port."""
    home = tmp_path / "home"
    shutil.copytree(scanned, home)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {**os.environ, "PHISCAN_HOME": str(home), "PYTHONPATH": str(Path.cwd())}
    command = [sys.executable, "-m", "phiscan", "serve", "--port", str(port)]
    with subprocess.Popen(command, env=environ, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        try:
            _wait(f"http://127.0.0.1:{port}/healthz", process)
            yield Server(f"http://127.0.0.1:{port}", home)
        finally:
            process.terminate()
            told = process.communicate(timeout=STARTS_S)[1]
    assert "request failed" not in told, told


def _wait(url: str, process: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + STARTS_S
    while time.monotonic() < ends and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=1).close()  # noqa: S310 (our own server)
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server did not start")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = needs("chromium")["chromium"]
    expect.set_options(timeout=WAITS_MS)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM)
        yield opened
        opened.close()


Sit = Callable[..., Seat]


@pytest.fixture
def sit(browser: Browser, server: Server) -> Iterator[Sit]:
    """Return a function that opens a browser window and signs somebody in."""
    contexts: list[BrowserContext] = []

    def open_window(name: str | None = "Ann", **options: object) -> Seat:
        scripted = bool(options.get("java_script_enabled", True))
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **options})  # type: ignore[arg-type]
        context.set_default_timeout(WAITS_MS)
        contexts.append(context)
        page = context.new_page()
        complaints: list[str] = []
        page.on("console", lambda told: complaints.append(told.text) if told.type != "log" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda _dialog: complaints.append("a dialog opened"))
        seat = Seat(page, context, server.url, complaints, scripted)
        if name is not None:
            seat.go("/sign-in")
            page.fill("[name=name]", name)
            page.fill("[name=password]", PASSWORD)
            seat.click("button.primary")
        return seat

    yield open_window
    for context in contexts:
        context.close()
