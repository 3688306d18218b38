"""Owner and readers of a file from its sharing permissions, also the inherited ones.

Source: Microsoft Graph documentation, resource types permission, sharingLink and sharePointIdentitySet; the
claims of "Everyone" and "Everyone except external users" in SharePoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

EVERYONE, ORGANIZATION = "everyone", "group everyone in the organization"
_LINKS = {"anonymous": (EVERYONE,), "organization": (ORGANIZATION,)}
_GUEST_MARKS = ("#ext#", "urn:spo:guest")  # in login names
_EVERYONE_CLAIM, _ORGANIZATION_CLAIM = "c:0(.s|true", "spo-grid-all-users"
_UNSET_YEAR = 1  # of the time when a permission ends, if it does not


def access_of(permissions: Iterable[dict[str, Any]]) -> tuple[str, tuple[str, ...]]:
    """Return owner and readers ("everyone", "group NAME", "user NAME") of a file from its permissions.

    >>> access_of([{"link": {"scope": "anonymous"}}, {"grantedToV2": {"group": {"displayName": "Nurses"}}}])
    ('', ('everyone', 'group Nurses'))
    """
    owner, readers = "", dict[str, None]()
    for permission in permissions:
        if _has_ended(permission.get("expirationDateTime") or ""):
            continue
        for reader in _readers(permission):
            readers[reader] = None
            if not owner and "owner" in permission.get("roles", ()) and reader.startswith("user "):
                owner = reader.removeprefix("user ")
    return owner, tuple(readers)


def name_of(identity: dict[str, Any]) -> str:
    """Return how an identity is called: by its address, else by its name."""
    named = identity.get("email") or identity.get("userPrincipalName") or identity.get("displayName")
    return str(named or identity.get("loginName") or identity.get("id") or "")


def _readers(permission: dict[str, Any]) -> Iterator[str]:
    granted = [permission.get("grantedToV2") or permission.get("grantedTo")]
    granted += permission.get("grantedToIdentitiesV2") or permission.get("grantedToIdentities") or ()
    people = [reader for one in granted if one for reader in _of_identities(one)]
    invited = (permission.get("invitation") or {}).get("email")
    if invited and not people:  # not yet accepted: whoever has the address will read as a guest
        people = [f"user {invited} (guest)"]
    link = permission.get("link")
    if link is not None:
        # A link without a scope and without people is open to all who have it.
        yield from _LINKS.get(link.get("scope") or ("" if people else "anonymous"), ())
    yield from people


def _of_identities(one: dict[str, Any]) -> Iterator[str]:
    """Yield the readers that a set of identities stands for: one account, in several views."""
    user, site_user = one.get("user"), one.get("siteUser") or {}
    login = str(site_user.get("loginName") or (user or {}).get("loginName") or "").lower()
    group = one.get("group") or one.get("sharePointGroup") or one.get("siteGroup")
    if login.startswith(_EVERYONE_CLAIM):
        yield EVERYONE
    elif _ORGANIZATION_CLAIM in login:
        yield ORGANIZATION
    elif user or (site_user and not group):
        account = {**site_user, **(user or {})}
        names = f"{login} {account.get('userPrincipalName', '')} {account.get('email', '')}".lower()
        is_guest = any(mark in names for mark in _GUEST_MARKS) or (user is not None and not user.get("id"))
        yield f"user {name_of(account)}" + (" (guest)" if is_guest else "")
    elif group:
        yield f"group {group.get('displayName') or group.get('title') or group.get('id', '')}"
    elif application := one.get("application"):
        yield f"user {name_of(application)}"


def _has_ended(moment: str) -> bool:
    try:
        ends = datetime.fromisoformat(moment)
    except ValueError:
        return False
    return ends.year > _UNSET_YEAR and ends.astimezone(UTC) < datetime.now(UTC)
