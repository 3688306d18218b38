"""Rendering of pages: escaping, visible file names, one nonce per response."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib import resources
from typing import Any

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from phiscan.language import LANGUAGES, SOURCE, current, gettext, install, lazy_gettext, ngettext, source
from phiscan.language import gettext as _
from phiscan.metrics.remaining import Remaining, remaining
from phiscan.report import words
from phiscan.report.rendering.html import report_css
from phiscan.report.words import count
from phiscan.review.store import Store
from phiscan.review.worklist.model import REASONS, WorkState
from phiscan.visible import visible
from phiscan.web import plain_words
from phiscan.web.access import Permission, may
from phiscan.web.work_query import ListQuery

_MESSAGE = re.compile(r'\b_\("([^"\\]+)"')  # a marked message of a script


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One static file."""

    content: bytes
    media_type: str
    digest: str


@dataclass(frozen=True, slots=True)
class Static:
    """The files of ``phiscan/web/static`` by name and the report's styles; no other file is served."""

    files: dict[str, StaticFile]
    script_messages: tuple[str, ...] = ()

    @classmethod
    def load(cls) -> Static:
        """Read the files."""
        files = {}
        for entry in resources.files("phiscan.web").joinpath("static").iterdir():
            if entry.is_file() and not entry.name.startswith("."):
                content = entry.read_bytes()
                media_type = mimetypes.guess_type(entry.name)[0] or "application/octet-stream"
                files[entry.name] = StaticFile(content, media_type, sha256(content).hexdigest()[:16])
        content = report_css().encode()
        files["report.css"] = StaticFile(content, "text/css", sha256(content).hexdigest()[:16])
        scripts = b"\n".join(one.content for name, one in files.items() if name.endswith(".js"))
        return cls(files, tuple(dict.fromkeys(_MESSAGE.findall(scripts.decode()))))

    def messages(self) -> dict[str, str]:
        """Return the messages of the scripts, ``_("...")``, in the current language; empty for English."""
        if current() == SOURCE:
            return {}
        return {message: gettext(message) for message in self.script_messages}

    def url(self, name: str) -> str:
        """Return the address of a file.

        Raises:
            KeyError: there is no such file.
        """
        return f"/static/{self.files[name].digest}/{name}"


DECIDED = (WorkState.PHI, WorkState.NOT_PHI, WorkState.UNSURE)


def status_line(store: Store, viewer: str, now: datetime) -> dict[str, Any]:
    """Count the figures of the line for one user, and return it in ``words``, without parts that are zero.

    Open, skipped, decided and waiting ones (decided, and hidden until a second reviewer has decided) add up
    to the total.
    """
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    states = store.desk.counts(viewer=viewer, now=now).by_state
    by_reviewer = store.desk.progress(since=midnight).by_reviewer
    is_open, skipped, total = (states[one] for one in (WorkState.UNDECIDED, WorkState.SKIPPED, WorkState.ANY))
    decided = sum(states[state] for state in DECIDED)
    waiting = total - is_open - skipped - decided
    today, mine_today = sum(by_reviewer.values()), by_reviewer.get(viewer, 0)
    parts = [ngettext("{n} open", "{n} open", is_open), ngettext("{n} decided", "{n} decided", decided)]
    if skipped:
        parts.append(ngettext("{n} skipped", "{n} skipped", skipped))
    if waiting > 0:
        parts.append(ngettext("{n} waiting for second review", "{n} waiting for second review", waiting))
    parts.append(_("{total} in all", total=count(total)))
    decided_today = ngettext("{n} decided today", "{n} decided today", today)
    if mine_today not in {0, today}:
        decided_today += _(", {mine_today} by you", mine_today=count(mine_today))
    words = (*parts, decided_today, stop_words(remaining(store.desk.left())))
    return {"open": is_open, "total": total, "today": today, "mine_today": mine_today, "words": words}


def stop_words(known: Remaining) -> str:
    """Return both bounds, and whether it is safe to stop or what is missing."""
    words = _(
        "left in the list at most {left}, missed in the rest at most {missed}",
        left=count(known.left_in_list.upper),
        missed=count(known.missed_in_rest.upper),
    )
    if known.safe:
        answer = _("safe to stop")
    elif known.needed:
        answer = ngettext(
            "safe to stop after {n} more blind item without PHI",
            "safe to stop after {n} more blind items without PHI",
            known.needed,
        )
    elif known.arrived_since_sample is None:
        answer = _("not safe to stop: no random sample drawn")
    elif known.arrived_since_sample:
        answer = ngettext(
            "not safe to stop: {n} file arrived since the sample",
            "not safe to stop: {n} files arrived since the sample",
            known.arrived_since_sample,
        )
    elif known.open_disputes or known.unsure or known.unread or known.not_covered:
        answer = _("not safe to stop: disputed, unsure or unread files")
    else:
        answer = _("not safe to stop: a larger random sample is needed")
    return f"{words}; {answer}"


FRAGMENTS = "passage"  # prefix of templates that are parts of a page, without its status line


_COMMAND = re.compile(r"`([^`]{1,200})`")


def _commands(text: str) -> Markup:
    """Return a sentence as HTML, with what is between backticks as code; no option is broken."""
    parts = _COMMAND.split(str(text))
    return Markup("").join(_code(part) if number % 2 else part for number, part in enumerate(parts))


def _code(command: str) -> Markup:
    words_of_it = (Markup('<span class="nowrap">{}</span>').format(word) for word in command.split())
    return Markup("<code>{}</code>").format(Markup(" ").join(words_of_it))


def _lines(text: str) -> Markup:
    """Return a text with its line ends as HTML, invisible characters escaped."""
    return Markup("<br>").join(map(visible, text.split("\n")))


@dataclass(frozen=True, slots=True)
class Notice:
    """One message."""

    kind: str  # good, warn or info: the colour
    words: str
    file_id: int | None = None  # offers to undo the decision about this file
    suppress_url: str = ""  # offers to suppress similar findings
    undoes: bool = False  # offers to undo the reviewer's last action
    redoes: bool = False  # offers to redo the action that was just undone
    act: str = ""  # offers to take back what was assigned or tagged at this moment


_GOOD = {
    "assigned": lazy_gettext("Assigned."),
    "tagged": lazy_gettext("The tags are recorded."),
    "taken_back": lazy_gettext("Taken back."),
    "commented": lazy_gettext("Your comment is recorded."),
    "kept": lazy_gettext("The view is saved."),
    "forgotten": lazy_gettext("The view is removed."),
    "undone": lazy_gettext("Your last decision is undone."),
    "redone": lazy_gettext("Your decision is recorded again."),
    "corrected": lazy_gettext("The correction is recorded."),
    "complete": lazy_gettext("All spans are checked: this file counts as gold standard for the scores."),
    "incomplete": lazy_gettext("The spans no longer count as checked."),
    "topics": lazy_gettext("The topics are recorded."),
    "suppressed": lazy_gettext(
        "What you chose is hidden from now on. You can lift the suppression at any time."
    ),
    "approved": lazy_gettext("Approved: it hides from now on."),
    "lifted": lazy_gettext("Lifted: what it hid is in the queue again."),
    "settled": lazy_gettext("Adjudicated: your verdict is final."),
    "end": lazy_gettext("That was the last of this view."),
    "drawn": lazy_gettext("The sample is drawn; its files are in the queue among the others."),
    "policy": lazy_gettext("In effect from now on."),
    "written": lazy_gettext("The incident is written."),
    "answered": lazy_gettext("Thank you: your answer is recorded. The next scan checks it."),
    "recorded": lazy_gettext("Recorded."),
    "mailed": lazy_gettext("The e-mail to the owner is sent, and recorded in the log."),
}
_WARN = {
    "none": lazy_gettext("Nothing was chosen."),
    "nothing_to_undo": lazy_gettext("There is no decision of yours to undo."),
    "nothing_to_redo": lazy_gettext(
        "Nothing was redone: you have decided since, or somebody else decided one of the files."
    ),
    "not_taken_back": lazy_gettext("Nothing was taken back: it was changed since."),
    "conflict": lazy_gettext(
        "Not recorded: somebody else decided it, or its content changed, after you opened it. This is"
        " its current state, with your reason and note; decide again if you still want to."
    ),
    "unopened": lazy_gettext(
        "Not recorded: this file is reviewed blind, and you have not opened it. Reveal its text and "
        "decide, or mark that you judge it by its name alone, which counts in no estimate."
    ),
    "changed": lazy_gettext(
        "Not recorded: the file was examined again after you opened it. Check it, then correct."
    ),
    "reason": lazy_gettext(
        "Not recorded: that reason belongs to another verdict. Choose another reason; your note is kept."
    ),
    "gone": lazy_gettext(
        "Not shown: the file has changed since it was examined, or is gone. The next scan examines it again."
    ),
    "settled_before": lazy_gettext(
        "Not recorded: it is already adjudicated, or one of the two reviewers changed the verdict."
    ),
    "busy": lazy_gettext("A pack is being made already. Wait until it is listed."),
}
_INFO = {
    "skipped": lazy_gettext("Skipped; it comes back to you in four hours."),
    "masked": lazy_gettext("The text is masked again."),
    "waiting": lazy_gettext(
        "Recorded. It hides so much that a lead must approve it; until then it hides nothing."
    ),
    "making": lazy_gettext("The pack is being made. This page lists it when it is ready."),
}
NOTICES: Mapping[str, Notice] = {
    name: Notice(kind, words, undoes=name == "redone")
    for kind, of_kind in (("good", _GOOD), ("warn", _WARN), ("info", _INFO))
    for name, words in of_kind.items()
}


def notice(word: str) -> Notice | None:
    """Return the notice of a name; None if there is none."""
    return NOTICES.get(word)


class Pages:
    """The templates and their environment.

    In every template: ``user`` (None before sign-in), ``can("decide")``, ``static("desk.css")``, ``nonce``,
    ``path`` (of the request); filters ``visible`` (for every name that came from a share), ``lines`` (the
    same for a text that somebody wrote, with its line ends), ``moment``, and
    ``count``, ``size``, ``share``, ``number``, ``duration`` and ``plain`` as in the report, ``decimal``
    (a number of English form), ``source`` (a message as the value of a form), ``known`` (a message
    that was stored), ``file_name`` (of a path), ``place`` (share and folder of a record), ``format_name``
    (of a media type); ``{% trans %}`` and ``_("...")`` for every text.
    """

    def __init__(self, static: Static) -> None:
        self.static = static
        self._environment = Environment(
            loader=PackageLoader("phiscan.web", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        install(self._environment)
        self._environment.filters["visible"] = visible
        self._environment.filters["commands"] = _commands
        self._environment.filters["lines"] = _lines
        self._environment.filters.update(
            count=words.count,
            moment=words.moment,
            type_name=words.ENTITY_TYPES.__getitem__,
            source=source,
            known=lambda text: gettext(text) if text else text,
            size=words.size,
            share=words.share,
            number=words.number,
            duration=words.duration,
            plain=words.plain,
            part_detail=words.part_detail,
            colour=plain_words.colour,
            locator=plain_words.locator_words,
            step=plain_words.step,
            mark=plain_words.mark_words,
            file_name=plain_words.file_name,
            place=plain_words.place_of,
            format_name=plain_words.format_words,
            mode_letters=plain_words.mode_letters,
            short_name=plain_words.SHORT.__getitem__,
            shown=plain_words.shown,
        )
        self._environment.globals.update(
            static=static.url,
            digits=plain_words.DIGIT_KINDS,
            short_kinds=plain_words.OTHER_KINDS,
            kinds=words.ENTITY_TYPES,
            detector_words=words.DETECTORS,
            outcome_reasons=words.REASONS,
            reasons=REASONS,
        )

    def render(
        self, request: Request, name: str, /, *, status_code: int = 200, **context: Any
    ) -> HTMLResponse:
        """Return a page; ``name`` is a template's file name, ``said`` in the address names its notice."""
        user = getattr(request.state, "user", None)
        context.setdefault("notice", notice(request.query_params.get("said", "")))
        context.setdefault("query", ListQuery())
        desk, status, n_mentions = request.app.state.desk, None, 0
        if user is not None and may(user, Permission.SEE_QUEUE) and not name.startswith(FRAGMENTS):
            status = status_line(desk.store, user.name, desk.now())
            n_mentions = desk.store.desk.n_open_mentions(viewer=user.name)
        text = self._environment.get_template(name).render(
            user=user,
            can=lambda permission: may(user, Permission(permission)),
            nonce=request.state.nonce,
            language=current(),
            languages=LANGUAGES,
            script_messages=self.static.messages(),
            path=request.url.path,
            status=status,
            n_mentions=n_mentions,
            **context,
        )
        return HTMLResponse(text, status_code=status_code, headers={"Content-Language": current()})
