"""Errors of the fake Google Drive, and the parameter fields, which cuts its answers.

Sources: the discovery document of Drive v3 (names of fields), and of
https://developers.google.com/workspace/drive/api/guides those on handle-errors and fields-parameter.
"""

import re
from typing import Any, NoReturn

from tests.servers.api_server import Answer, Request, json_answer

# Schema -> fields that the discovery document lists (of a file those a scanner may want).
_FIELDS = {
    "file": """capabilities copyRequiresWriterPermission createdTime description driveId explicitlyTrashed
        exportLinks fileExtension hasAugmentedPermissions headRevisionId id kind labelInfo lastModifyingUser
        linkShareMetadata md5Checksum mimeType modifiedTime name originalFilename ownedByMe owners parents
        permissionIds permissions properties quotaBytesUsed resourceKey sha1Checksum sha256Checksum shared
        sharedWithMeTime sharingUser shortcutDetails size spaces starred trashed trashedTime version
        webViewLink writersCanShare""",
    "permission": "deleted displayName domain emailAddress expirationTime id kind role type",
    "change": "changeType drive driveId file fileId kind removed time type",
    "drive": "capabilities createdTime hidden id kind name restrictions",
    "fileList": "files incompleteSearch kind nextPageToken",
    "permissionList": "kind nextPageToken permissions",
    "changeList": "changes kind newStartPageToken nextPageToken",
    "driveList": "drives kind nextPageToken",
}
_SCHEMA_OF = {"files": "file", "permissions": "permission", "changes": "change", "drives": "drive"}
# Without the parameter fields: "a default set of fields specific to the method"; those clients do not need.
_DEFAULT = "kind,id,name,startPageToken"


class Refused(Exception):  # noqa: N818 (an answer, no fault of this server)
    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def error(status: int, reason: str, message: str, *, domain: str = "global", **headers: str) -> Answer:
    """Return an error in the body that guides/handle-errors shows."""
    detail = {"domain": domain, "reason": reason, "message": message}
    return json_answer(status, {"error": {"code": status, "message": message, "errors": [detail]}}, **headers)


def invalid(parameter: str, reason: str = "invalid") -> NoReturn:
    """Refuse a request because of one of its parameters."""
    raise Refused(error(400, reason, f"Invalid value of {parameter}"))


def shown(request: Request, schema: str, payload: dict[str, Any]) -> Answer:
    """Return a resource cut to the parameter fields (guides/fields-parameter): a,b(c,d)."""
    asked = request.query.get("fields")
    mask = _mask(re.findall(r"[\w*/]+|[(),]", asked or _DEFAULT))
    if asked:
        _check(mask, schema)
    return json_answer(200, _cut(payload, mask))


def _mask(tokens: list[str]) -> dict[str, Any]:
    """Return a mask as nested dictionaries; an empty one is the whole field."""
    found: dict[str, Any] = {}
    name = ""
    while tokens and (token := tokens.pop(0)) != ")":
        if token == "(":
            found[name] = _mask(tokens)
        elif token != ",":
            name = token
            found[name] = {}
    return found


def _check(mask: dict[str, Any], schema: str) -> None:
    known = _FIELDS.get(schema, "").split()
    for name, inner in mask.items():
        if known and name not in known and name != "*":
            invalid("fields", "invalidParameter")
        _check(inner, _SCHEMA_OF.get(name, name))


def _cut(value: Any, mask: dict[str, Any]) -> Any:
    """Return what a mask leaves; what takes time to compute is a function, called only if it is wanted."""
    if callable(value):
        value = value()
    if isinstance(value, list):
        return [_cut(one, mask) for one in value]
    if not isinstance(value, dict):
        return value
    if not mask or "*" in mask:
        return {name: _cut(one, {}) for name, one in value.items()}
    return {name: _cut(value[name], inner) for name, inner in mask.items() if name in value}
