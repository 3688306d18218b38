"""A made-up organization in LDAP: accounts and groups of POSIX, of LDAP and of Active Directory."""

import base64
import struct
from collections.abc import Iterator

from tests.servers.ldap import BASE

PEOPLE = f"ou=people,{BASE}"
GROUPS = f"ou=groups,{BASE}"
CANARY = "zebracanary"


def entries(n_many: int) -> Iterator[str]:
    """Yield the LDIF of each entry; ``n_many``: accounts besides the few that are told apart."""
    for unit in (PEOPLE, GROUPS):
        yield f"dn: {unit}\nobjectClass: organizationalUnit\n"
    for number, name in enumerate(("ann", "bob", "cyd", "dee"), start=5001):
        # cyd's account has expired.
        more = "objectClass: shadowAccount\nshadowExpire: 12000\n" if name == "cyd" else ""
        yield _posix(f"{CANARY}-{name}", number, 6002, more)
    for number in range(n_many):
        yield _posix(f"many{number:05}", 20_000 + number, 6003)
    yield _posix_group("ward", 6001, f"{CANARY}-ann", f"{CANARY}-cyd", f"{CANARY}-removed")
    yield _posix_group("office", 6002)  # the primary group of four
    yield _posix_group("everybody-else", 6003)
    yield _names("staff", _uid("ann"), f"cn=nurses,{GROUPS}")
    yield _names("nurses", _uid("bob"), f"cn=staff,{GROUPS}")  # a cycle
    yield _names("visitors", _uid("dee"), "cn=guests,dc=elsewhere,dc=org")
    for rid, name, more in (
        (1104, "eve", "userAccountControl: 512"),
        (1105, "fay", "userAccountControl: 514"),  # disabled
        (1106, "gus", "userAccountControl: 512\naccountExpires: 116444736000000000"),  # expired in 1970
    ):
        yield _windows(
            f"cn={CANARY} {name},{PEOPLE}",
            "user",
            f"cn: {CANARY} {name}\nsn: {name}\nsAMAccountName: {CANARY}-{name}\n"
            f"primaryGroupID: 513\nobjectSid:: {_sid(rid)}\n{more}",
        )
    members = "\n".join(f"member: cn={CANARY} {name},{PEOPLE}" for name in ("eve", "fay", "gus"))
    for rid, name, more in ((513, "Domänen-Benutzer", ""), (1201, "Clinic", members)):
        dn = base64.b64encode(f"cn={name},{GROUPS}".encode()).decode()
        text = base64.b64encode(name.encode()).decode()
        about = f"cn:: {text}\nsAMAccountName:: {text}\ngroupType: 2\nobjectSid:: {_sid(rid)}\n{more}"
        yield _windows(dn, "group", about, mark="::")


def _uid(name: str) -> str:
    return f"uid={CANARY}-{name},{PEOPLE}"


def _posix(name: str, number: int, group: int, more: str = "") -> str:
    return (
        f"dn: uid={name},{PEOPLE}\nobjectClass: inetOrgPerson\nobjectClass: posixAccount\n{more}uid: {name}\n"
        f"cn: {name}\nsn: {name}\nmail: {name}@example.org\nuidNumber: {number}\ngidNumber: {group}\n"
        f"homeDirectory: /home/{name}\n"
    )


def _posix_group(name: str, number: int, *members: str) -> str:
    listed = "".join(f"memberUid: {one}\n" for one in members)
    return f"dn: cn={name},{GROUPS}\nobjectClass: posixGroup\ncn: {name}\ngidNumber: {number}\n{listed}"


def _names(name: str, *members: str) -> str:
    listed = "".join(f"member: {one}\n" for one in members)
    return f"dn: cn={name},{GROUPS}\nobjectClass: groupOfNames\ncn: {name}\n{listed}"


def _windows(dn: str, kind: str, about: str, mark: str = ":") -> str:
    required = "instanceType: 4\nnTSecurityDescriptor: -\nobjectCategory: cn=person\n"
    return f"dn{mark} {dn}\nobjectClass: {kind}\nobjectClass: extensibleObject\n{required}{about.strip()}\n"


def _sid(rid: int) -> str:
    sid = struct.pack("<BB", 1, 5) + (5).to_bytes(6, "big") + struct.pack("<5I", 21, 1, 2, 3, rid)
    return base64.b64encode(sid).decode()
