"""Signing in as the Microsoft identity platform documents it, for applications without a user.

Sources: https://learn.microsoft.com/entra/identity-platform, v2-oauth2-client-creds-grant-flow,
certificate-credentials (header and claims of an assertion), reference-error-codes (AADSTS...).
"""

from collections.abc import Callable
from typing import Any

from tests.servers.api_server import Answer, Request, json_answer, parts_of_jwt
from tests.servers.microsoft365_resources import guid

TENANT, APPLICATION, SECRET = guid("tenant"), guid("application"), "Zebra-canary-418"
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def sign_in(request: Request, url: str, grant: Callable[[str], dict[str, Any]]) -> Answer:
    """Answer a token request: with what ``grant`` gives, or why it is refused."""
    tenant, _, path = request.path[1:].partition("/")
    if path != "oauth2/v2.0/token" or request.method != "POST":
        return Answer(404)
    form = request.form
    if form.get("client_assertion_type") == _ASSERTION:
        endpoint = f"{url}/{TENANT}/oauth2/v2.0/token"
        is_known, number = _is_assertion(form.get("client_assertion", ""), endpoint), 700027
    else:
        is_known, number = form.get("client_secret") == SECRET, 7000215
    checks = [
        (tenant == TENANT, 400, "invalid_request", 90002),
        (form.get("grant_type") == "client_credentials", 400, "unsupported_grant_type", 70003),
        (form.get("client_id") == APPLICATION, 400, "unauthorized_client", 700016),
        (form.get("scope", "").endswith("/.default"), 400, "invalid_scope", 1002012),
        (is_known, 401, "invalid_client", number),
    ]
    for is_met, status, kind, code in checks:
        if not is_met:
            description = f"AADSTS{code}: refused. Trace ID: {guid('trace')}"
            return json_answer(status, {"error": kind, "error_description": description})
    return json_answer(200, grant(APPLICATION))


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
