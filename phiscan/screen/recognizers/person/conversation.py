"""Single names in talk: "hi its Blessing from", "madame bellefleur", "Big Mike", "her boss (Curt)".

In chats and notes people are told by one name, which is often a word, too ("told Grace"). What stands before
it and behind it says that it is somebody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from phiscan.lexicon.capitalized_words import FIRST_ONLY, FULL_NAME, LAST_ONLY, is_term, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import Finding, PiiBit
from phiscan.text.prefilter import Rare

_SCORE = 0.55
_NAMES = Word.FIRST | Word.LAST
_BLOCK = Word.MONTH_OR_DAY | Word.CREDENTIAL | Word.NOT_PERSON | Word.EPONYM
_CAP = r"[^\W\d_a-zà-öø-ÿ][^\W\d_]*[a-zà-ÿ](?:[-'’][^\W\d_]+)*"  # noqa: RUF001 (names are written with it)
# Who writes or calls says so.
_INTRODUCED = Rare(
    re.compile(
        r"(?<!\w)(?:(?:[Hh]i|[Hh]ello|[Hh]ey|[Mm]orning|[Bb]onjour|[Ss]alut|[Aa]ll[oô]|[Mm]om"
        r"|[Dd]ad)[ ,!.]{1,3}"
        r"(?:it['’]?s|this is|c['’]?est|ici|i['’]?m|I am|I['’]?m|je suis)"  # noqa: RUF001 (texts are written with it)
        r"|(?:[Mm]y name is|[Jj]e m['’]appelle|[Pp]refers|[Gg]oes by|[Cc]alls (?:him|her)self))[ ]"  # noqa: RUF001 (texts are written with it)
        rf"(?P<name>{_CAP})(?![^\W\d_])(?![ ]{_CAP})"
    ),
    r"(?i:it['’]?s|this is|c['’]?est|ici|i['’]?m|i am|je suis|name is|appelle|prefers|goes by|self) \p{L}",  # noqa: RUF001 (texts are written with it)
)
# A title in small letters before a surname in small letters.
_TITLED = Rare(
    re.compile(
        r"(?<!\w)(?:madame|monsieur|mademoiselle|docteure?|pastor|auntie|chaplain|infirmi[eè]re|nurse|inf\.?"
        r"|rn|lpn|rpn|psw|pab)[ ](?!(?:prat|aux|clin|chef|gest|pivot|lic)\b)"
        r"(?P<name>(?:(?:de|la|le|van|bin|el|al|abu|st|ste|da"
        r"|du)[ ]){0,2}(?P<last>[a-zà-ÿ]{3,20}(?:-[a-zà-ÿ]{2,20})?))(?![\w-])"
    ),
    r"(?:madame|monsieur|mademoiselle|docteure?|pastor|auntie|chaplain|infirmi[eè]re|nurse|inf\.?|[rl]p?n|psw|pab)"
    r" \p{L}",
)
_NICKNAMED = Rare(
    re.compile(
        rf"(?<![\w-])(?P<name>(?:Big|Little|Lil|Old|Tiny|Crazy|Baby|Grand|Gros|Petit|P['’]tit"  # noqa: RUF001 (texts are written with it)
        rf"|Ti)[ -](?P<first>{_CAP}))(?![\w-])"
    ),
    r"(?:Big|Little|Lil|Old|Tiny|Crazy|Baby|Grand|Gros|Petit|tit|Ti)[ -]\p{L}",
)
_THINGS = frozenset({"apple", "ben", "mac", "rock", "league", "island"})  # "Big Ben"
_WHO = (
    r"(?:boss|lead|manager|supervisor|roommate|room-mate|ex|boy|girl|kid|guy|teacher|coach"
    r"|landlord|neighbou?r|friend"
    r"|buddy|sponsor|worker|aide|copain|copine|chum|blonde?|patron|patronne|coloc|enseignante?"
    r"|voisine?|jumeaux|jumelles"
    r"|duplicates|siblings|fratrie|team)"
)
_BRACKETED = Rare(
    re.compile(
        rf"(?<!\w)(?i:{_WHO}),?[ ](?:[(«\"“][ \u00a0]?)(?P<name>{_CAP})(?=[ \u00a0]?[)»\"”]|[ ](?:et"
        rf"|and|&)[ ]{_CAP}[,)])"
    ),
    rf"(?i:{_WHO}),? [(«\"“]",
)
# A nickname in quotation marks or brackets behind a name.
_QUOTED = Rare(
    re.compile(rf"(?<=[a-zà-ÿ.])[ ]\((?:[\"“«][ \u00a0]?(?P<name>{_CAP})[ \u00a0]?[\"”»])\)"),
    r"\([\"“«]",
)
# A first name that is a word, too, with a capital within a sentence, where somebody is due.
_WORDLY = re.compile(
    r"(?<!\w)(?:w/|(?:[Ll]vm|LVM|[Ll]m|LM|vm|msg|[Mm]essage)[ ](?:for|to)|told|tell|tells|asked|ask|asks"
    r"|saw|called|thank|thanks|met"
    r"|want|wants|let|help|helped"
    r"|bring|brought|give|gave|with|for|like|love|loves|miss|misses|visit|visited|and|remind|text"
    r"|texted|phone|phoned)"
    rf"[ ](?P<name>{_CAP})(?P<behind>[ ]?[.,;!?)](?:\s|$)|[ ](?:has|is|was|said|says|will|came"
    rf"|wants|to|about|that|what|how|re"
    r"|copied|give|gave|know|knows|in|at|again|today)(?!\w))"
)  # fmt: skip

# One that begins a sentence, by what somebody did: "Hope phoned re refill", "Will called back."
_ACTS = re.compile(
    rf"(?:^|[.!?:—–-][ ])[ \t>*•]{{0,6}}(?P<name>{_CAP})[ ](?:phoned|called|rang|texted|e-?mailed|asked|asks"  # noqa: RUF001 (texts are written with it)
    r"|wants|says|told|refuse[ds]|no[ -]showed|cancelled|arrived|picked[ ]up|brought|a[ ]appel[ée]"
    r"|a[ ]t[ée]l[ée]phon[ée]|demande|rappelle|veut|refuse)\b",
    re.MULTILINE,
)
# Whom a mail is about: "Subject: RE: Delacroix transfer". Systems are updated, and not transferred.
_SUBJECT = re.compile(
    r"^[ \t>]{0,8}(?:[Ss]ubj(?:ect)?|[Ss]ujet|[Oo]bjet|SUBJECT|OBJET)[ ]?:[ ]{0,3}"
    r"(?:(?i:re|fwd?|tr|rép)[ ]?:[ ]{0,2}){0,4}"
    rf"(?P<name>{_CAP})(?:['’]s)?[ ](?P<what>[^\W\d_/-]+(?:/[a-z])?)",  # noqa: RUF001 (texts are written with it)
    re.MULTILINE,
)
_DONE_TO_PATIENTS = frozenset(
    "transfer transfert bed discharge d/c congé admission family famille placement estate consent biopsy"  # noqa: SIM905 (a list of words)
    " path echo mri surgery chirurgie funeral autopsy hospice".split()
)
_DONE_TO_NAMED = frozenset(
    "referral consult consultation results result résultats labs lab appt appointment rdv chart dossier xray"  # noqa: SIM905 (a list of words)
    " ct meds f/u followup suivi intake case claim refill rx prescription auth forms form letter lettre"
    " complaint plainte update wound visit visite bloodwork ride transport".split()
)
_VERBS = frozenset({"will", "mark"})  # given names that the lists leave out


def conversation_names(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield single names by what stands around them; spans are half-open, in code points."""
    for pattern in (_INTRODUCED, _BRACKETED, _QUOTED):
        for match in pattern.finditer(text):
            if _may_name(match["name"], gazetteer) and not is_term(text, match.end("name"), gazetteer):
                yield _found(match.span("name"), FIRST_ONLY)
    for match in _TITLED.finditer(text):
        flags = gazetteer.of(match["last"])
        if flags & (_NAMES | Word.ORDINARY) in {Word.FIRST, Word.LAST, _NAMES} and not flags & _BLOCK:
            health = match[0].startswith(("docteur", "inf", "nurse", "rn", "lpn", "rpn", "psw", "pab"))
            yield _found(match.span("name"), LAST_ONLY, health=health)
    for match in _NICKNAMED.finditer(text):
        flags = gazetteer.of(match["first"])
        plain = flags & Word.LAST or not flags & Word.ORDINARY
        is_thing = match["first"].lower() in _THINGS or gazetteer.is_place(match["first"])
        if flags & (Word.FIRST | _BLOCK) == Word.FIRST and plain and not is_thing:
            yield _found(match.span("name"), FULL_NAME)
    for match in chain(_WORDLY.finditer(text), _ACTS.finditer(text)):
        flags = gazetteer.of(match["name"])
        is_word = flags & (Word.FIRST | Word.ORDINARY | _BLOCK) == Word.FIRST | Word.ORDINARY
        if is_word or match["name"].lower() in _VERBS:
            yield _found(match.span("name"), FIRST_ONLY)
    yield from _subjects(text, gazetteer)


def _subjects(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield whom the subject of a mail names."""
    for match in _SUBJECT.finditer(text):
        flags, what = gazetteer.of(match["name"]), match["what"].lower()
        known = flags & (Word.LAST | Word.ORDINARY) == Word.LAST and not gazetteer.is_place(match["name"])
        if (known and what in _DONE_TO_NAMED) or ((known or not flags) and what in _DONE_TO_PATIENTS):
            yield _found(match.span("name"), LAST_ONLY)


def _may_name(word: str, gazetteer: Gazetteer) -> bool:
    """Tell whether a word with a capital may be a name: it is one, or on no list."""
    flags = gazetteer.of(word)
    return not flags & _BLOCK and (not flags or bool(flags & _NAMES))


def _found(span: tuple[int, int], bits: frozenset[PiiBit], *, health: bool = False) -> Finding:
    return name_finding(
        *span, health=health, bits=bits, source="names.said", score=_SCORE,
        reason=("context", "a single name in talk"),
    )  # fmt: skip
