r"""Accounts of users where systems write them: profile folders, logs of web servers, directories.

An account is mostly a name (jroy, a.roy) or a number of staff. Source: Windows and Unix profile folders, the
common log format of web servers (its third field), LDAP (uid), Windows event logs (DOMAIN\user).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.model import Document, EntityType, Finding, Reason, Span
from phiscan.screen.bits import bits_of
from phiscan.screen.name_tokens import name_finding
from phiscan.screen.rare import Rare

SCORE = 0.7
SOURCE = "names.account"
_USER = r"(?:[^\W_]|[._-](?=[^\W_])){3,40}"
_FOLDERS = r"(?:\\{1,2}|/)(?:Users|Utilisateurs|Documents and Settings)(?:\\{1,2}|/)"
_LABELS = (
    r"(?:user|account(?: name)?|login|owner|logon|utilisateur|compte)(?: ?name)?[ \t]{0,3}[:=][ \t]{0,14}"
)
_DONE = r"(?:print|export|generat|creat|modifi|updat|enter|scann)ed by"
_DONE_FR = r"(?:imprim|export|génér|cré|modifi|saisi|numéris)é?e? par"
_PLACES = Rare(
    re.compile(
        rf"(?:[A-Za-z]:{_FOLDERS}|(?<![\w.])/(?:home|Users|export/home)/)(?P<folder>{_USER})(?=[\\/>\"'\s]|$)"
        rf"|^\d{{1,3}}(?:\.\d{{1,3}}){{3}} \S{{1,40}} (?P<log>{_USER}) \[\d\d?/"
        rf"|(?<![\w-])uid=(?P<uid>{_USER}),\s?(?:ou|dc|cn|o)="
        rf"|{_LABELS}(?P<domain>[A-Za-z][\w.-]{{1,30}})\\{{1,2}}(?P<member>{_USER})"
        rf"|\"(?:from|author|sender|created_?by|modified_?by|utilisateur|auteur|exp[ée]diteur)\"\s?:"
        rf"\s?\"(?P<sender>{_USER})\""
        rf"|(?:{_DONE}|{_DONE_FR})[: ]{{1,2}}(?P<by>[a-z][a-z.]{{3,24}}\d?)"
        r"(?=[ ,;]{1,2}(?:on |at |le |à )?\d)",
        re.IGNORECASE | re.MULTILINE,
    ),
    r"(?i)(?:users|utilisateurs|settings|home)[\\/]|\d \S+ \S+ \[\d|uid=|[:=][ \t]*[a-z][\w.-]*\\"
    r"|\"(?:from|author|sender|created|modified|utilisateur|auteur|exp.{1,2}diteur)"
    r"|ed by[: ]|[iée] par[: ]|ée par[: ]|ie par[: ]",
)
# Accounts that nobody is called by.
_MACHINES = frozenset(
    "admin administrateur administrator all anonymous apache app appdata apps auto backup batch"  # noqa: SIM905 (a list of words reads best as a text)
    " bin build common conda daemon data default deploy dev docker ec2-user email fax ftp git"
    " gitlab-runner guest hand hl7 hudson interface invite invité jenkins lab local localservice"
    " mail mysql network networkservice nobody node none operator oracle our pacs phone post"
    " postgres postgresql print prod public root runner sa scanner scheduler server service"
    " services share shared shiny sql sqlserver ssh ssm-user staff student sync sys system"
    " systeme système temp test tester the them tomcat ubuntu unknown user username users"
    " utilisateur vagrant virtual web webmaster workstation www www-data your".split()
)
_PREFIXES = ("bot", "svc", "srv", "app-", "admin", "test", "default", "system", "service")


class AccountRecognizer:
    """Find accounts of users where systems write them."""

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; spans are half-open, in code points."""
        text = document.text
        for match in _PLACES.finditer(text):
            where = match.lastgroup or "folder"
            account = match[where].casefold()
            if account in _MACHINES or account.startswith(_PREFIXES) or account.endswith("$"):
                continue
            start, end = match.span(where)
            letters = sum(map(str.isalpha, account))
            if letters < len(account) / 2 or letters < 3:  # noqa: PLR2004 (a name has three letters)
                kind = EntityType.OTHER_ID
                reason = Reason("label", where, SCORE)
                yield Finding(Span(start, end), kind, "account", SCORE, bits_of(kind), (reason,))
                continue
            yield name_finding(
                start, end, health=False, bits=frozenset(), source=SOURCE, score=SCORE,
                reason=("label", where),
            )  # fmt: skip
