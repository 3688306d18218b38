"""The e-mail to an owner of files: how many await an answer, and a link; no name, path or value."""

from __future__ import annotations

from phiscan.language import lazy_gettext, lazy_ngettext

SUBJECT = lazy_gettext("Files of yours need attention")
_TEXT = lazy_gettext(
    """Hello,

a privacy review has confirmed that files of yours hold personal health
information. {files}

Please sign in, look at each and answer: {link}

Please do not send the files, or anything from them, by e-mail.
"""
)


def owner_mail(n_open: int, n_overdue: int, link: str) -> str:
    """Return the text for one owner: numbers of files, and the address of the page that lists them."""
    files = lazy_ngettext("{n} file is to be seen to", "{n} files are to be seen to", n_open)
    late = lazy_ngettext(", {n} of them is overdue.", ", {n} of them are overdue.", n_overdue)
    return _TEXT.format(files=f"{files}{late if n_overdue else '.'}", link=link)


def is_same_domain(address: str, sender: str) -> bool:
    """Return whether an address is in the sender's domain or a subdomain; others get no mail.

    >>> is_same_domain("ann@ward.hospital.example", "privacy@hospital.example")
    True
    >>> is_same_domain("ann@nothospital.example", "privacy@hospital.example")
    False
    """
    home = sender.rpartition("@")[2].casefold()
    domain = address.rpartition("@")[2].casefold()
    return bool(home) and (domain == home or domain.endswith("." + home))
