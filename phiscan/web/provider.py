"""OpenID Connect: redirect to the identity provider, and verification of its signed ID token.

Authorization code with PKCE, state bound to the browser, nonce bound to the sign-in. The provider's responses
are never logged, because they identify people.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phiscan.config import Config, OidcTable
from phiscan.crawl.location import is_protected
from phiscan.errors import ConfigError, PhiscanError, origin
from phiscan.review.accounts.sign_in import Flow, Identity
from phiscan.store.tables.users import Role

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import OAuth2Client

CALLBACK = "/sign-in/provider/callback"
# None with a shared key.
ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA", "RS384", "RS512", "ES384", "ES512")
LEEWAY_S = 60
FRESH_S = 3600.0  # the provider's keys are fetched again after this time, or when an unknown key is used
TIMEOUT_S = 10.0


class ProviderError(PhiscanError):
    """The identity provider did not respond as specified; the sign-in fails."""


@dataclass(slots=True)
class Provider:
    """One identity provider."""

    table: OidcTable
    secret: str = field(repr=False)
    roles: Mapping[str, Role]  # value of the claim -> role; of several, the first one here
    redirect_uri: str
    transport: Any = None  # replacement of the network, for tests
    _found: dict[str, Any] = field(default_factory=dict, repr=False)
    _fetched: float = 0.0

    def authorization_url(self, flow: Flow) -> str:
        """Return the provider's address to redirect the browser to.

        Raises:
            ProviderError: the provider cannot be reached.
        """
        with self._client() as client:
            self._discover(client)
            url, _ = client.create_authorization_url(
                self._found["authorization_endpoint"],
                state=flow.state,
                nonce=flow.nonce,
                code_verifier=flow.code_verifier,
            )
        return str(url)

    def identity(self, flow: Flow, code: str) -> Identity:
        """Return the signed-in user from the authorization code.

        Raises:
            ProviderError: the code is invalid, or the token is unsigned, expired or not for this sign-in.
        """
        from authlib.oidc.core import CodeIDToken  # noqa: PLC0415 (optional)
        from joserfc import jwt  # noqa: PLC0415 (optional)

        with self._client() as client:
            self._discover(client)
            try:
                token = client.fetch_token(
                    self._found["token_endpoint"],
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=flow.code_verifier,
                )
                signed = jwt.decode(str(token["id_token"]), self._keys(client), algorithms=list(ALGORITHMS))
                claims = CodeIDToken(
                    signed.claims,
                    signed.header,
                    options={
                        "iss": {"essential": True, "value": self.table.issuer},
                        "aud": {"essential": True, "value": self.table.client_id},
                    },
                    params={"nonce": flow.nonce, "client_id": self.table.client_id},
                )
                claims.validate(now=int(time.time()), leeway=LEEWAY_S)
            except ProviderError:
                raise
            except Exception as error:  # noqa: BLE001 (the libraries' errors quote the token, which names a person)
                message = f"the identity provider's answer is not good: {origin(error)}"
                raise ProviderError(message) from None
        return Identity(
            subject=f"{claims['iss']} {claims['sub']}",
            name=str(claims.get(self.table.name_claim, "")),
            role=self._role(claims.get(self.table.role_claim)),
        )

    def _role(self, claimed: object) -> Role | None:
        claimed = claimed if isinstance(claimed, list) else [claimed]
        values = {value for value in claimed if isinstance(value, str)}
        return next((role for value, role in self.roles.items() if value in values), None)

    def _client(self) -> OAuth2Client:
        from authlib.integrations.httpx_client import OAuth2Client  # noqa: PLC0415 (optional)

        return OAuth2Client(
            self.table.client_id,
            self.secret or None,
            scope=self.table.scope,
            redirect_uri=self.redirect_uri,
            code_challenge_method="S256",
            timeout=TIMEOUT_S,
            follow_redirects=False,
            transport=self.transport,
        )

    def _discover(self, client: OAuth2Client) -> None:
        if self._found and time.monotonic() - self._fetched < FRESH_S:
            return
        found = self._get(client, self.table.issuer.rstrip("/") + "/.well-known/openid-configuration")
        if found.get("issuer") != self.table.issuer:
            message = "the identity provider calls itself by another name than oidc.issuer"
            raise ProviderError(message)
        wanted = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        if any(not is_protected(str(found.get(name, ""))) for name in wanted):
            message = "the identity provider names an address that is not https"
            raise ProviderError(message)
        found["keys"] = self._get(client, found["jwks_uri"])
        self._found, self._fetched = found, time.monotonic()

    def _keys(self, client: OAuth2Client) -> Any:
        """Return the key lookup of a token; for an unknown key id the key set is fetched once more."""
        from joserfc.jwk import KeySet  # noqa: PLC0415 (optional)

        def key(token: Any) -> Any:
            kid = token.headers().get("kid")
            if kid is not None and kid not in {one.get("kid") for one in self._found["keys"].get("keys", [])}:
                self._found["keys"] = self._get(client, self._found["jwks_uri"])
            keys = KeySet.import_key_set(self._found["keys"])
            return keys.get_by_kid(kid) if kid is not None else keys.keys[0]

        return key

    @staticmethod
    def _get(client: OAuth2Client, url: str) -> dict[str, Any]:
        try:
            response = client.request("GET", url, withhold_token=True)
            response.raise_for_status()
            found = response.json()
        except Exception as error:  # noqa: BLE001 (any error of the client; the message may quote data)
            message = f"the identity provider does not answer: {origin(error)}"
            raise ProviderError(message) from None
        if not isinstance(found, dict):
            message = "the identity provider's answer is not a JSON object"
            raise ProviderError(message)
        return found


def load_provider(config: Config, own_url: str) -> Provider | None:
    """Read ``[oidc]``; None when the file has no such table.

    Raises:
        ConfigError: names the field and what was expected.
    """
    table = config.oidc
    if table == OidcTable():
        return None
    roles = _roles(config)
    for name in ("issuer", "client_id"):
        if not getattr(table, name):
            raise ConfigError(config.source, f"oidc.{name}: expected a text")
    if not is_protected(table.issuer):
        raise ConfigError(config.source, "oidc.issuer: expected an https:// address")
    try:
        import authlib.integrations.httpx_client  # noqa: F401, PLC0415 (optional; checked at the start)
    except ImportError:
        raise ConfigError(config.source, "oidc: needs Authlib: pip install 'phiscan[oidc]'") from None
    return Provider(table, _secret(config, table.client_secret_file), roles, own_url.rstrip("/") + CALLBACK)


def _roles(config: Config) -> dict[str, Role]:
    known = ", ".join(role.value for role in Role)
    if any(value not in set(Role) for value in config.oidc.roles.values()):
        raise ConfigError(config.source, f"oidc.roles: expected a table of claim = role; roles are {known}")
    return {claim: Role(value) for claim, value in config.oidc.roles.items()}


def _secret(config: Config, name: str) -> str:
    if not name:
        return ""
    path = Path(config.source).parent / name
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigError(config.source, f"oidc.client_secret_file: {name}: cannot be read") from None
