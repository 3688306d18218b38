"""Errors of the fake Google Drive, and the parameter fields, which cuts its answers.

Sources: the discovery document of Drive v3 (names of fields), and of
https://developers.google.com/workspace/drive/api/guides those on handle-errors and fields-parameter.
"""

import re
from typing import Any, NoReturn

from tests.servers.api_server import Answer, Request, json_answer

# Schema -> the fields that the discovery document (or, newer, the reference) lists.
_FIELDS = {
    "file": """appProperties capabilities contentHints contentRestrictions copyRequiresWriterPermission
        createdTime description driveId explicitlyTrashed exportLinks fileExtension folderColorRgb
        fullFileExtension hasAugmentedPermissions hasThumbnail headRevisionId iconLink id imageMediaMetadata
        inheritedPermissionsDisabled isAppAuthorized kind labelInfo lastModifyingUser linkShareMetadata
        md5Checksum mimeType modifiedByMe modifiedByMeTime modifiedTime name originalFilename ownedByMe owners
        parents permissionIds permissions properties quotaBytesUsed resourceKey sha1Checksum sha256Checksum
        shared sharedWithMeTime sharingUser shortcutDetails size spaces starred teamDriveId thumbnailLink
        thumbnailVersion trashed trashedTime trashingUser version videoMediaMetadata viewedByMe viewedByMeTime
        viewersCanCopyContent webContentLink webViewLink writersCanShare""",
    "permission": """allowFileDiscovery deleted displayName domain emailAddress expirationTime id
        inheritedPermissionsDisabled kind pendingOwner permissionDetails photoLink role
        teamDrivePermissionDetails type view""",
    "change": "changeType drive driveId file fileId kind removed teamDrive teamDriveId time type",
    "drive": """backgroundImageFile backgroundImageLink capabilities colorRgb createdTime hidden id kind name
        orgUnitId restrictions themeId""",
    "fileList": "files incompleteSearch kind nextPageToken",
    "permissionList": "kind nextPageToken permissions",
    "changeList": "changes kind newStartPageToken nextPageToken",
    "driveList": "drives kind nextPageToken",
    "startPageToken": "kind startPageToken",
    "about": "kind storageQuota user",
}
_SCHEMA_OF = {"files": "file", "permissions": "permission", "changes": "change", "drives": "drive"} | {
    "file": "file",
    "drive": "drive",
}
# Without the parameter fields: "a default set of fields specific to the method".
_DEFAULTS = {
    "file": "kind,id,name,mimeType",
    "fileList": "kind,incompleteSearch,nextPageToken,files(kind,id,name,mimeType)",
    "permissionList": "kind,nextPageToken,permissions(kind,id,type,role)",
    "changeList": "kind,nextPageToken,newStartPageToken,changes(kind,type,changeType,time,removed,fileId,"
    "driveId,file(kind,id,name,mimeType),drive(kind,id,name))",
    "driveList": "kind,nextPageToken,drives(kind,id,name)",
    "drive": "kind,id,name",
    "startPageToken": "*",
}


class Refused(Exception):  # noqa: N818 (an answer, no fault of this server)
    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def error(
    status: int,
    reason: str,
    message: str,
    *,
    domain: str = "global",
    location: str = "",
    location_type: str = "",
    **headers: str,
) -> Answer:
    """Return an error in the body that guides/handle-errors shows."""
    detail = {"domain": domain, "reason": reason, "message": message}
    if location:
        detail |= {"location": location, "locationType": location_type}
    body = {"error": {"code": status, "message": message, "errors": [detail]}}
    return json_answer(status, body, **headers)


def invalid(parameter: str, message: str, reason: str = "invalid") -> NoReturn:
    """Refuse a request because of one of its parameters."""
    raise Refused(error(400, reason, message, location=parameter, location_type="parameter"))


def shown(request: Request, schema: str, payload: dict[str, Any]) -> Answer:
    """Return a resource cut to the parameter fields (guides/fields-parameter)."""
    mask = _mask(re.findall(r"[\w*]+|[(),/]", request.query.get("fields") or _DEFAULTS[schema]))
    _check(mask, schema)
    return json_answer(200, _cut(payload, mask))


def _mask(tokens: list[str]) -> dict[str, Any]:
    """Return a mask a,b(c,d),e/f as nested dictionaries; an empty one is the whole field."""
    found: dict[str, Any] = {}
    while tokens and tokens[0] != ")":
        name = tokens.pop(0)
        inner: dict[str, Any] = {}
        target = found.setdefault(name, inner)
        while tokens and tokens[0] == "/":
            tokens.pop(0)
            target = target.setdefault(tokens.pop(0), {})
        if tokens and tokens[0] == "(":
            tokens.pop(0)
            target |= _mask(tokens)
            if not tokens:
                invalid("fields", "Invalid field selection", "invalidParameter")
            tokens.pop(0)
        if tokens and tokens[0] == ",":
            tokens.pop(0)
    return found


def _check(mask: dict[str, Any], schema: str) -> None:
    known = _FIELDS.get(schema, "").split()
    for name, inner in mask.items():
        if known and name not in known and name != "*":
            invalid("fields", f"Invalid field selection {name}", "invalidParameter")
        _check(inner, _SCHEMA_OF.get(name, ""))


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
