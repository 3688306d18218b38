"""Signing in through an identity provider: a small one that runs in the test, honest and then not."""

import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from fastapi import FastAPI
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from phiscan.config import Config, load_config
from phiscan.errors import ConfigError
from phiscan.review.accounts.users import Role
from phiscan.review.store import Store
from phiscan.web.provider import load_provider
from tests.web.clock import Clock
from tests.web.conftest import Browser

ISSUER = "https://idp.example"
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
KEY = RSAKey.generate_key(2048, parameters={"kid": "one"}, auto_kid=False)
OTHER_KEY = RSAKey.generate_key(2048, parameters={"kid": "one"}, auto_kid=False)


@dataclass
class FakeProvider:
    """Answers discovery, keys and tokens; remembers what a browser was sent with, as a real one would."""

    claims: dict[str, Any] = field(default_factory=dict)
    issuer: str = ISSUER
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "RS256", "kid": "one"})
    key: Any = field(default_factory=lambda: KEY)
    published: Any = field(default_factory=lambda: KEY)
    asked: dict[str, str] = field(default_factory=dict)
    n_keys_fetched: int = 0

    def approve(self, location: str) -> str:
        """Let the person sign in; return the code."""
        parts = urlsplit(location)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{ISSUER}/authorize"
        self.asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert self.asked["response_type"] == "code"
        assert self.asked["client_id"] == "phiscan"
        assert self.asked["redirect_uri"] == "http://localhost/sign-in/provider/callback"
        assert self.asked["code_challenge_method"] == "S256"
        return "the-code"

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        if path == "/.well-known/openid-configuration":
            found = {
                "issuer": self.issuer,
                "authorization_endpoint": f"{ISSUER}/authorize",
                "token_endpoint": f"{ISSUER}/token",
                "jwks_uri": f"{ISSUER}/keys",
            }
            return httpx2.Response(200, json=found)
        if path == "/keys":
            self.n_keys_fetched += 1
            return httpx2.Response(200, json={"keys": [self.published.as_dict(private=False)]})
        assert path == "/token"
        assert request.headers["authorization"].startswith("Basic ")
        sent = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        good = create_s256_code_challenge(sent["code_verifier"]) == self.asked["code_challenge"]
        if not good or sent["code"] != "the-code":
            return httpx2.Response(400, json={"error": "invalid_grant"})
        return httpx2.Response(
            200, json={"access_token": "a", "token_type": "Bearer", "id_token": self.token()}
        )

    def token(self) -> str:
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "sub": "s-1",
            "aud": "phiscan",
            "iat": now,
            "exp": now + 300,
            "nonce": self.asked["nonce"],
            "preferred_username": "Dr Ada",
            "groups": ["everybody", "privacy-office"],
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        return str(jwt.encode(self.header, claims, self.key, algorithms=[self.header["alg"]]))


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "secret").write_text("hush\n")
    path = tmp_path / "phiscan.toml"
    path.write_text(
        f'[oidc]\nissuer = "{ISSUER}"\nclient_id = "phiscan"\nclient_secret_file = "secret"\n'
        '[oidc.roles]\nprivacy-leads = "lead"\nprivacy-office = "reviewer"\n'
    )
    return load_config(path, environ={})


@pytest.fixture
def provider() -> FakeProvider:
    return FakeProvider()


@pytest.fixture
def visitor(app: FastAPI, config: Config, provider: FakeProvider) -> Browser:
    used = load_provider(config, "http://localhost")
    assert used is not None
    used.transport = httpx2.MockTransport(provider)
    app.state.desk = replace(app.state.desk, provider=used)
    return Browser(app)


def _go(visitor: Browser, provider: FakeProvider, **changed: str) -> httpx2.Response:
    """Walk the whole way, as a browser does; changed: other parameters on the way back."""
    sent = visitor.get("/sign-in/provider")
    assert sent.status_code == 303
    code = provider.approve(sent.headers["location"])
    back = {"state": provider.asked["state"], "code": code, **changed}
    return visitor.get("/sign-in/provider/callback", params=back, headers=LINK)  # type: ignore[no-any-return]


def test_somebody_new_gets_an_account_with_the_role_of_the_claim(
    visitor: Browser, provider: FakeProvider, store: Store
) -> None:
    assert "/sign-in/provider" in visitor.get("/sign-in").text
    answer = _go(visitor, provider)
    assert answer.status_code == 200
    assert 'http-equiv="refresh"' in answer.text
    cookies = answer.headers.get_list("set-cookie")
    assert any(cookie.startswith("phiscan=") and "SameSite=strict" in cookie for cookie in cookies)
    assert visitor.get("/api/v1/me").json()["role"] == "reviewer"
    made = store.users.named("dr ada")
    assert (made.subject, made.has_password) == (f"{ISSUER} s-1", False)
    assert store.users.sessions(made.id, now=store.users.log(limit=1).entries[0].at)[0].method == "provider"
    assert [entry.action for entry in store.users.log(limit=2).entries] == ["sign_in", "user_add"]
    assert store.verify_audit().ok


def test_a_role_that_changed_there_changes_here(
    visitor: Browser, provider: FakeProvider, store: Store
) -> None:
    assert _go(visitor, provider).status_code == 200
    provider.claims = {"groups": ["privacy-office", "privacy-leads"]}
    assert _go(visitor, provider).status_code == 200
    assert store.users.named("dr ada").role is Role.LEAD  # the first in the file
    provider.claims = {}
    other = Browser(visitor.app)  # type: ignore[arg-type]
    assert _go(other, provider).status_code == 200
    assert visitor.get("/api/v1/me").status_code == 401  # a session of the former role has ended
    assert other.get("/api/v1/me").json()["role"] == "reviewer"


def test_a_role_that_is_taken_away_there_is_taken_away_here(
    visitor: Browser, provider: FakeProvider, store: Store, clock: Clock
) -> None:
    assert _go(visitor, provider).status_code == 200
    ada = store.users.named("dr ada")
    token = store.users.make_token(ada.id, label="export", days=9, by="dr ada", now=clock())
    provider.claims = {"groups": ["everybody"]}
    other = Browser(visitor.app)  # type: ignore[arg-type]
    assert _go(other, provider).status_code == 403
    assert visitor.get("/api/v1/me").status_code == 401  # the session of the other browser has ended
    assert store.users.bearer(token, now=clock()) is None
    assert [entry.action for entry in store.users.log(limit=2).entries] == ["sign_in_failed", "user_disable"]
    assert store.users.log(limit=2).entries[1].actor == "identity provider"
    provider.claims = {"groups": ["privacy-leads"]}
    assert _go(other, provider).status_code == 200  # given back there, given back here
    assert store.users.named("dr ada").role is Role.LEAD
    store.users.set_role(ada.id, Role.AUDITOR, by="admin", now=clock())
    provider.claims = {"groups": None}
    assert _go(other, provider).status_code == 200  # what an administrator gave here stays
    assert store.users.named("dr ada").role is Role.AUDITOR
    assert store.verify_audit().ok


def test_an_account_made_here_keeps_its_role_when_no_claim_says_another(
    visitor: Browser, provider: FakeProvider, store: Store, clock: Clock
) -> None:
    store.users.add(
        name="Bea", role=Role.AUDITOR, password=None, subject=f"{ISSUER} s-2", by="test", now=clock()
    )
    provider.claims = {"sub": "s-2", "groups": None, "preferred_username": None}
    assert _go(visitor, provider).status_code == 200
    assert visitor.get("/api/v1/me").json() == {
        "name": "Bea",
        "role": "auditor",
        "permissions": ["read_incident", "read_log", "read_report", "see_scans", "sign_log"],
    }


UNFIT: list[dict[str, Any]] = [
    {"groups": ["everybody"]},
    {"groups": None},
    {"groups": "privacy"},
    {"groups": {"privacy-office": 1}},
    {"preferred_username": "Lead"},  # the name of another account: never taken over
    {"preferred_username": ""},
    {"preferred_username": "<b>x"},
    # of a token that is not for us now
    {"iss": "https://evil.example"},
    {"aud": "another"},
    {"aud": ["phiscan", "another"]},
    {"exp": 1_000_000_000},
    {"exp": None},
    {"nonce": "another"},
    {"nonce": None},
    {"sub": None},
    {"azp": "another"},
]


def test_nobody_gets_in_by_claims_that_do_not_fit(
    visitor: Browser, provider: FakeProvider, store: Store
) -> None:
    before = len(store.users.everybody())
    for claims in UNFIT:
        provider.claims = claims
        assert _go(visitor, provider).status_code == 403, claims
        assert visitor.get("/account").status_code == 303
    assert len(store.users.everybody()) == before


def test_a_disabled_account_stays_out(
    visitor: Browser, provider: FakeProvider, store: Store, clock: Clock
) -> None:
    assert _go(visitor, provider).status_code == 200
    store.users.disable(store.users.named("dr ada").id, by="test", now=clock())
    assert _go(visitor, provider).status_code == 403


def test_a_token_signed_by_another_key_or_by_none_is_not_believed(
    visitor: Browser, provider: FakeProvider
) -> None:
    provider.key = OTHER_KEY
    assert _go(visitor, provider).status_code == 403
    provider.key, provider.header = OctKey.import_key("hush" * 8), {"alg": "HS256", "kid": "one"}
    assert _go(visitor, provider).status_code == 403
    # The public key itself as a shared secret.
    provider.key = OctKey.import_key(json.dumps(KEY.as_dict(private=False)))
    assert _go(visitor, provider).status_code == 403


def test_a_new_key_of_the_provider_is_asked_for(visitor: Browser, provider: FakeProvider) -> None:
    assert _go(visitor, provider).status_code == 200
    fresh = RSAKey.generate_key(2048, parameters={"kid": "two"}, auto_kid=False)
    provider.key = provider.published = fresh
    provider.header = {"alg": "RS256", "kid": "two"}
    assert _go(visitor, provider).status_code == 200
    assert provider.n_keys_fetched == 2


def test_an_answer_is_taken_once_and_only_from_the_browser_that_began(
    visitor: Browser, provider: FakeProvider, clock: Clock
) -> None:
    assert _go(visitor, provider, state="another").status_code == 403
    assert _go(visitor, provider, code="").status_code == 403
    assert _go(visitor, provider, code="another").status_code == 403
    sent = visitor.get("/sign-in/provider")
    back = {"state": "", "code": provider.approve(sent.headers["location"])}
    back["state"] = provider.asked["state"]
    other = Browser(visitor.app)  # type: ignore[arg-type]
    assert other.get("/sign-in/provider/callback", params=back, headers=LINK).status_code == 403
    assert visitor.get("/sign-in/provider/callback", params=back, headers=LINK).status_code == 200
    assert visitor.get("/sign-in/provider/callback", params=back, headers=LINK).status_code == 403
    late = visitor.get("/sign-in/provider")
    back = {"code": provider.approve(late.headers["location"]), "state": provider.asked["state"]}
    clock.turn(minutes=11)
    assert visitor.get("/sign-in/provider/callback", params=back, headers=LINK).status_code == 403


def test_a_provider_of_another_name_or_none_is_said(visitor: Browser, provider: FakeProvider) -> None:
    provider.issuer = "https://evil.example"
    assert visitor.get("/sign-in/provider").status_code == 503
    visitor.app.state.desk.provider.transport = httpx2.MockTransport(  # type: ignore[attr-defined]
        lambda _request: httpx2.Response(500, text="Canary")
    )
    answer = visitor.get("/sign-in/provider")
    assert answer.status_code == 503
    assert "Canary" not in answer.text


def test_without_a_provider_there_is_no_way_in(app: Any) -> None:
    visitor = Browser(app)
    assert visitor.get("/sign-in/provider").status_code == 404
    assert visitor.get("/sign-in/provider/callback?state=a&code=b").status_code == 404
    assert "/sign-in/provider" not in visitor.get("/sign-in").text


def test_a_person_of_the_provider_has_no_password_to_guess(visitor: Browser, provider: FakeProvider) -> None:
    assert _go(visitor, provider).status_code == 200
    for password in ("", "x", "\x00"):
        sent = {"name": "Dr Ada", "password": password}
        assert visitor.post("/sign-in", data=sent).status_code in {401, 422}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('issuer = "http://idp.example"\nclient_id = "a"', "oidc.issuer: expected an https:// address"),
        ('issuer = "https://idp.example"', "oidc.client_id: expected a text"),
        ('issuer = "https://i.example"\nclient_id = "a"\nsecret = "x"', "oidc.secret: unknown field"),
        (
            'issuer = "https://i.example"\nclient_id = "a"\nclient_secret_file = "none"',
            "oidc.client_secret_file: none: cannot be read",
        ),
        ('issuer = "https://i.example"\nclient_id = "a"\n[oidc.roles]\nx = "king"', "oidc.roles: expected"),
    ],
)
def test_a_wrong_table_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "phiscan.toml"
    path.write_text(f"[oidc]\n{text}\n")
    with pytest.raises(ConfigError, match=words):
        load_provider(load_config(path, environ={}), "https://desk.example")
