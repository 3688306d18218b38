"""Signing in as the Microsoft identity platform documents it, for applications without a user.

Sources: https://learn.microsoft.com/entra/identity-platform, v2-protocols-oidc (metadata),
v2-oauth2-client-creds-grant-flow, certificate-credentials (header and claims of an assertion),
reference-error-codes (AADSTS...).
"""

import secrets

from tests.servers.api_server import Answer, Request, json_answer, parts_of_jwt
from tests.servers.microsoft365_drives import guid

TENANT, APPLICATION, SECRET = guid("tenant"), guid("application"), "Zebra-canary-418"
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def sign_in(request: Request, url: str) -> tuple[Answer, str]:
    """Answer OpenID Connect discovery or a token request; with it a new token."""
    base = f"{url}/{TENANT}"
    endpoint = f"{base}/oauth2/v2.0/token"
    tenant, _, path = request.path[1:].partition("/")
    if tenant != TENANT:
        return _error(400, "invalid_request", 90002), ""
    if path == "v2.0/.well-known/openid-configuration":
        metadata = {"token_endpoint": endpoint, "issuer": f"{base}/v2.0"}
        return json_answer(200, metadata | {"authorization_endpoint": f"{base}/oauth2/v2.0/authorize"}), ""
    if path != "oauth2/v2.0/token" or request.method != "POST":
        return Answer(404), ""
    refused = _refusal(request.form, endpoint)
    if refused is not None:
        return refused, ""
    token = secrets.token_urlsafe(24)
    return json_answer(200, {"token_type": "Bearer", "access_token": token, "expires_in": 3599}), token


def _refusal(form: dict[str, str], endpoint: str) -> Answer | None:
    if form.get("client_assertion_type") == _ASSERTION:
        is_known, number = _is_assertion(form.get("client_assertion", ""), endpoint), 700027
    else:
        is_known, number = form.get("client_secret") == SECRET, 7000215
    checks = [
        (form.get("grant_type") == "client_credentials", 400, "unsupported_grant_type", 70003),
        (form.get("client_id") == APPLICATION, 400, "unauthorized_client", 700016),
        (form.get("scope", "").endswith("/.default"), 400, "invalid_scope", 1002012),
        (is_known, 401, "invalid_client", number),
    ]
    return next((_error(status, kind, code) for is_met, status, kind, code in checks if not is_met), None)


def _error(status: int, kind: str, number: int) -> Answer:
    description = f"AADSTS{number}: refused. Trace ID: {guid('trace')}"
    return json_answer(status, {"error": kind, "error_description": description, "error_codes": [number]})


def _is_assertion(token: str, endpoint: str) -> bool:
    """Whether an assertion has the header and claims that certificate-credentials lists."""
    header, claims, _, signature = parts_of_jwt(token)
    return (
        header.get("alg") in {"PS256", "RS256"}
        and bool(header.get("x5t") or header.get("x5t#S256"))
        and claims.get("aud") == endpoint
        and claims.get("iss") == claims.get("sub") == APPLICATION
        and {"exp", "jti"} <= set(claims)
        and bool(signature)
    )
