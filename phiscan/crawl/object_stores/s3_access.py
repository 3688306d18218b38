"""Owner and readers of an object, as far as the store discloses them to the account used."""

from __future__ import annotations

import threading
from typing import Any

from phiscan.crawl.object_stores.s3_client import S3Client
from phiscan.crawl.share_errors import RefusedError, UnansweredError

# Source: Amazon S3 user guide, "Access control list (ACL) overview", predefined groups.
_GROUPS = {
    "http://acs.amazonaws.com/groups/global/AllUsers": "everyone",
    "http://acs.amazonaws.com/groups/global/AuthenticatedUsers": "group of all AWS accounts",
    "http://acs.amazonaws.com/groups/s3/LogDelivery": "group log delivery",
}
_MAY_READ = frozenset({"READ", "FULL_CONTROL"})


class AccessLists:
    """Requests access control lists; after one refusal no more requests are sent."""

    def __init__(self, client: S3Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._answers = True
        self._public: bool | None = None  # by the policy of the bucket

    def of(self, key: str) -> tuple[str, tuple[str, ...]]:
        """Return owner and readers of an object ("everyone", "user NAME", "group NAME"), if known."""
        everyone = ("everyone",) if self._is_public() else ()
        if not self._answers:
            return "", everyone
        try:
            answer = self._client.call("get_object_acl", Key=key)
        except RefusedError:
            self._answers = False
            return "", everyone
        except UnansweredError:
            return "", everyone
        owner = answer.get("Owner", {})
        granted = (
            _grantee(grant.get("Grantee", {}))
            for grant in answer.get("Grants", ())
            if grant.get("Permission") in _MAY_READ
        )
        return owner.get("DisplayName") or owner.get("ID", ""), tuple(dict.fromkeys((*everyone, *granted)))

    def _is_public(self) -> bool:
        with self._lock:
            if self._public is None:
                try:
                    answer = self._client.call("get_bucket_policy_status")
                    self._public = bool(answer.get("PolicyStatus", {}).get("IsPublic"))
                except (RefusedError, UnansweredError):  # no policy, or no right to read it
                    self._public = False
            return self._public


def _grantee(grantee: dict[str, Any]) -> str:
    """Return the name of a grantee.

    >>> _grantee({"Type": "Group", "URI": "http://acs.amazonaws.com/groups/global/AllUsers"})
    'everyone'
    """
    if grantee.get("Type") == "Group":
        uri = grantee.get("URI", "")
        return _GROUPS.get(uri, f"group {uri.rpartition('/')[2]}")
    return f"user {grantee.get('DisplayName') or grantee.get('EmailAddress') or grantee.get('ID', '')}"
