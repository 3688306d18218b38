"""Resources and errors of the fake Google Drive, and the parameter fields, which cuts its answers.

Sources: the discovery document of Drive v3 (schemas File, Change, Drive, Permission, User), and of
https://developers.google.com/workspace/drive/api/guides those on about-changes, enable-shareddrives,
fields-parameter, handle-errors, manage-sharing and mime-types.
"""

import hashlib
import re
from typing import Any, NoReturn

from tests.servers.api_server import Answer, Request, json_answer
from tests.servers.cloud import Drive, Item, refuse

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


def error(status: int, reason: str, message: str = "", *, domain: str = "global") -> Answer:
    """Return an error in the body that guides/handle-errors shows."""
    detail = {"domain": domain, "reason": reason, "message": message}
    return json_answer(status, {"error": {"code": status, "message": message, "errors": [detail]}})


def invalid(parameter: str, reason: str = "invalid") -> NoReturn:
    """Refuse a request because of one of its parameters."""
    refuse(error(400, reason, f"Invalid value of {parameter}"))


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
        if known and name not in known:
            invalid("fields", "invalidParameter")
        _check(inner, _SCHEMA_OF.get(name, name))


def _cut(value: Any, mask: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_cut(one, mask) for one in value]
    if not mask or not isinstance(value, dict):
        return value
    return {name: _cut(value[name], inner) for name, inner in mask.items() if name in value}


def permission(kind: str, who: str = "", role: str = "reader", **more: Any) -> dict[str, Any]:
    """Return a Permission resource: of a user, group, domain or anyone.

    The id is the same for the same grantee ("a unique identifier for the grantee").
    """
    shown: dict[str, Any] = {"kind": "drive#permission", "type": kind, "role": role, "id": f"{who or kind}k"}
    if kind == "domain":
        shown |= {"domain": who, "displayName": who}
    elif kind != "anyone":
        shown |= {"emailAddress": who, "displayName": who, "deleted": False}
    return shown | more


def permissions_of(item: Item) -> list[dict[str, Any]]:
    """Return own and inherited permissions, one for each grantee."""
    holders = [item, *item.ancestors][::-1]
    return list({one["id"]: one for holder in holders for one in holder.permissions}.values())


def file_of(item: Item, owner: str) -> dict[str, Any]:
    """Return the File resource; what is not populated for items in shared drives is left out there.

    ``owner``: of a My Drive. What has no content has more: its kind, and the exports of a document of an
    editor or the target of a shortcut.
    """
    kind = "application/octet-stream"
    if item.content is None:
        kind = f"application/vnd.google-apps.{item.more.get('kind', 'folder')}"
    shown: dict[str, Any] = {
        "kind": "drive#file",
        "id": item.id,
        "name": item.name,
        "mimeType": kind,
        "trashed": item.is_trashed or any(one.is_trashed for one in item.ancestors),
        "explicitlyTrashed": item.is_trashed,
        "parents": [item.parent.id] if item.parent else [],
        "version": str(item.drive.latest[item.id][0]),
        "createdTime": item.created,
        "modifiedTime": item.modified,
    }
    if item.content is not None:
        checksum = hashlib.md5(item.content, usedforsecurity=False).hexdigest()
        shown |= {"size": str(len(item.content)), "md5Checksum": checksum}
        shown["headRevisionId"] = f"{item.id}-{len(item.content)}-{item.modified}"
    if "exports" in item.more:
        # "Applicable to binary files in Google Drive and Google Docs files": no size of an export.
        shown["size"] = "1024"
    if "target" in item.more:
        shown["shortcutDetails"] = {"targetId": item.more["target"]}
    if not owner:
        return shown | {"driveId": item.drive.id}
    shown |= {"owners": [{"emailAddress": owner}], "ownedByMe": True}
    return shown | {"shared": len(item.permissions) > 1, "permissions": permissions_of(item)}


def drive_of(drive: Drive) -> dict[str, Any]:
    """Return the Drive resource."""
    return {"kind": "drive#drive", "id": drive.id, "name": drive.name}
