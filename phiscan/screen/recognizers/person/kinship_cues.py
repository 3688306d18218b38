"""Names behind a word of kinship or of introduction: "his wife Mary", "my name is Ann Roy"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.capitalized_words import (
    CREDENTIALS,
    FIRST_ONLY,
    FULL_NAME,
    UPPER,
    WORD,
    is_term,
    name_finding,
)
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import Finding
from phiscan.screen.recognizers.person.name_extent import STOP_WORDS, read_words
from phiscan.screen.rules.context import canonical

_WORD = re.compile(WORD)
_UPPER = re.compile(f"[{UPPER}]")
_GAP = re.compile(r",?[ ]{1,2}")
# Kin before a name with a colon, a bracket or nothing, in any case.
_RELATIONS = frozenset(
    "wife husband spouse son daughter mother father mom mum dad brother sister partner fiance"  # noqa: SIM905 (a list of words)
    " fiancee girlfriend boyfriend fille fils epouse epoux mari conjoint conjointe frere soeur mere pere"
    " grandmother grandfather grandson granddaughter nephew niece aunt uncle cousin caregiver stepfather"
    " stepmother stepson stepdaughter tante oncle roommate grandma grandpa neighbour neighbor friend dtr dau"
    " husb hubby gf bf sis stepdad stepmom stepbrother stepsister grandmere grandpere bellesoeur beaufrere"
    " bellemere beaupere bellefille beaufils petitfils petitefille gendre bru neveu cousine voisin voisine"
    " proche procheaidante procheaidant daughterinlaw soninlaw motherinlaw fatherinlaw sisterinlaw"
    " brotherinlaw fostermom fostermother fosterdad fosterfather marraine parrain gardienne"
    " auntie aunty kokum kookum kukum kohkum mooshum moshom nana papa meme pepe mamie papi matante mononcle"
    " granny grampa gramps nok poa sdm fob mob".split()
)
_SHORTENED = frozenset({"husb", "dtr", "dau"})
_DOT_GAP = re.compile(r"\.[ ]{1,2}")
_KIN_GAP = re.compile(r"[ ]?\((?=\w)|[ ]?[:=][ ]{0,3}|[ ]?_{2,40}[ ]?|,?[ ]{1,2}")
_BEHIND_KIN = re.compile(
    r"[ ](?:is|was|at|au|cell|tel|ph|est|aged|\(?\+?\d)|[ ]?[,;)/](?!\w)"
    r"|['’]s[ ]|[.]?(?:\s{0,2}\n|\s*\Z)"  # noqa: RUF001 (names are written with it)
)
# Given names that are verbs: names behind a word of kinship where a surname or the end of a sentence follows.
_GIVEN_VERBS = frozenset("will mark grant chase drew rob sue bill pat wade guy frank hope art".split())  # noqa: SIM905 (a list of words reads best as a text)
_ENDS_IN_CAPITALS = re.compile(r"[ ]?[,.;)](?!\w)|\s{0,2}(?:\n|\Z)")
_SURNAMES = frozenset({"long", "young", "frank", "early"})
_SMALL_NEXT = re.compile(r"[ ](?:to|is|was|has|at|will|with|and|says|called|in|on)[ ]|[ ]?[,.;(]")
# What somebody does, is or has, behind a name that is a word, too: "mother april picks up".
_DOES = re.compile(
    r"[ ](?:to|is|was|has|can|could|picks?|picked|called|calls|phoned|phones|says|said|states?|stated"
    r"|reports?|reported|brings|brought|took|takes|drives|drove|lives|works|confirms?|confirmed|signed|asked"
    r"|asks|wants|aware|updated|informed|notified|visits|visiting|visited|here|present|upset|helps|helped"
    r"|does|did|cooks|and|avis[ée]e?|pr[ée]sente?|appelle|demande|veut|vit|dit|habite|viendra|vient|est|sera"
    r"|peut)\b",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"[ ]?[,.;)](?!\w)|[ ]\(?\d{3}")
_WILL = re.compile(r"[ ](?:will|is|was|has|to|can|says|said|called|wants|signs|signed)[ ]")
_SHORT_FOR = frozenset(
    "poa sdm hcp nok tbd unk dpoa hcpoa mpoa lpoa ems icu pcp dnr epoa que qui est".split()  # noqa: SIM905 (a list of words)
)
_PARTICLE_NEXT = re.compile(r"[ ](?:der|den|de|la|het|[A-Z])")
_VOWEL = re.compile(r"[aeiouyà-ÿ]")
_MIN_UNKNOWN = 3  # letters of a word in small ones that no list has: "poa", "ems" are shorter
_SURNAME_AND_NUMBER = re.compile(rf"[ ]({WORD})[ ,(]{{1,4}}\+?\d{{3}}")
_NUMBER_NEXT = re.compile(r"[ ,(]{1,4}\+?\d{3}")
_VERBS_TOO = frozenset(
    "will may can grant mark chase drew rob sue bill pat wade skip guy van man said hope trust an in so art"  # noqa: SIM905 (a list of words reads best as a text)
    " stays sees frank young old long more early".split()
)
# After these even an unknown word is a name.
_INTRODUCTIONS = frozenset(
    "mynameis nameis named jemappelle monnomest sappelle nomme nommee appelee lastnameis firstnameis".split()  # noqa: SIM905 (a list of words reads best as a text)
)


class KinReader:
    """Reads the name that stands behind a word of kinship, in any case."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        self._relations = {canonical(phrase) for phrase in gazetteer.cues.get("kin", ())} & _RELATIONS

    def knows(self, key: str) -> bool:
        """Tell whether a cue, in its canonical form, is a word of kinship."""
        return key in self._relations

    def read(self, text: str, start: int, end: int, key: str) -> Iterator[Finding]:
        """Read "his wife Mary", "my name is Ann Roy": a first name that is no ordinary word, or both."""
        sure = key in _INTRODUCTIONS
        is_relation = key in self._relations
        gap = _gap(text, end, key, is_relation=is_relation)
        if gap is None:
            return
        aside = self._relative(text, start, end, gap) if is_relation else None
        if aside is None and sure and not _UPPER.match(text, gap.end()):
            aside = self._introduced(text, gap.end())
        if aside is not None:
            yield aside
        if aside is not None or not _UPPER.match(text, gap.end()):
            return
        words = read_words(self._gazetteer, text, gap.end(), min(len(text), gap.end() + 60))
        words = [w for w in words if text[w[0]].isupper()]
        if not words or "," in text[words[0][0] : words[-1][1]]:
            words = words[:1]
        flags = [self._gazetteer.of(text[a:b]) for a, b in words]
        while flags and flags[-1] & Word.ORDINARY:
            flags.pop()
            words.pop()
        if not words or flags[0] & (Word.ORDINARY | Word.NOT_PERSON) or not (sure or flags[0] & Word.FIRST):
            return
        if any(f & (Word.NOT_PERSON | Word.EPONYM | Word.MONTH_OR_DAY) for f in flags):
            return
        if is_term(text, words[-1][1], self._gazetteer):
            return
        yield name_finding(
            words[0][0], words[-1][1], health=CREDENTIALS.match(text, words[-1][1]) is not None,
            bits=FULL_NAME if len(words) > 1 else FIRST_ONLY, source="names.cue", score=0.7,
            reason=("label", "kin"),
        )  # fmt: skip

    def _introduced(self, text: str, start: int) -> Finding | None:
        """Read "a man named will in the next bed": a given name in small letters, word or not."""
        match = _WORD.match(text, start)
        if match is None or match[0] in STOP_WORDS or is_term(text, match.end(), self._gazetteer):
            return None
        flags = self._gazetteer.of(match[0])
        is_given = flags & Word.FIRST or match[0] in _GIVEN_VERBS
        if not is_given or flags & (Word.NOT_PERSON | Word.CREDENTIAL):
            return None
        return name_finding(
            *match.span(),
            health=False,
            bits=FIRST_ONLY,
            source="names.cue",
            score=0.6,
            reason=("label", "kin"),
        )

    def _relative(self, text: str, start: int, end: int, gap: re.Match[str]) -> Finding | None:
        """Read "wife joy is", "SISTER LIGAYA 403", "husband Prince Thorne", "fille : Widelene"."""
        match = _WORD.match(text, gap.end())
        if match is None or len(match[0]) <= 2:  # noqa: PLR2004 (MD, RN)
            return None
        word, flags = match[0], self._gazetteer.of(match[0])
        blocked = Word.NOT_PERSON | Word.CREDENTIAL
        if self._does(text, match):  # "daughter June is", and not "daughter June 3"
            flags &= ~Word.MONTH_OR_DAY
        if flags & (blocked | Word.MONTH_OR_DAY) or flags & (Word.EPONYM | Word.FIRST) == Word.EPONYM:
            return None
        is_longer = flags & Word.PARTICLE and _PARTICLE_NEXT.match(text, match.end())  # "Van der Berg"
        if is_term(text, match.end(), self._gazetteer) or word.lower() in STOP_WORDS or is_longer:
            return None
        if not self._is_believed(text, match, text[start:end], gap[0]):
            return None
        surname = (
            self._surname_ends(text, match.end(), is_verb=word in _GIVEN_VERBS) if word.islower() else None
        )
        stop = surname or match.end()
        following = _WORD.match(text, stop + 1) if text[stop : stop + 1] == " " else None
        if following is not None and following[0][0].isupper() == word[0].isupper():
            last = self._gazetteer.of(following[0])
            known = last & (Word.LAST | Word.ORDINARY) == Word.LAST
            if word.istitle() and flags & Word.ORDINARY:  # "Morning Star", "Prince Thorne"
                known = bool(last & (Word.FIRST | Word.LAST)) and not last & Word.NOT_PERSON
            if word.isupper():
                known = known or (
                    bool(last & Word.LAST) and _NUMBER_NEXT.match(text, following.end()) is not None
                )
            if known or not (last or word.islower() or word.isupper()):
                stop = following.end()
        return name_finding(
            match.start(), stop, health=False, bits=FIRST_ONLY if stop == match.end() else FULL_NAME,
            source="names.cue", score=0.7, reason=("label", "kin"),
        )  # fmt: skip

    def _surname_ends(self, text: str, end: int, *, is_verb: bool) -> int | None:
        """Return where a surname in small letters ends that stands behind a given name: "will stephens".

        ``is_verb``: whether the given name is one, too: "will call" is none.
        """
        match = _WORD.match(text, end + 1) if text[end : end + 1] == " " else None
        if match is None or not match[0].islower() or match[0] in _VERBS_TOO - _SURNAMES:
            return None
        flags = self._gazetteer.of(match[0])
        plain = flags & (Word.LAST | Word.ORDINARY) == Word.LAST
        closed = not is_verb and flags & Word.LAST and _BEHIND_KIN.match(text, match.end()) is not None
        return match.end() if plain or closed else None

    def _does(self, text: str, match: re.Match[str]) -> bool:
        """Tell whether a given name that is a word, too, is followed by what somebody does."""
        if _DOES.match(text, match.end()) is None:
            return False
        if match[0].istitle() and match[0].lower() in _GIVEN_VERBS:
            return True  # "her brother Will is"
        return bool(self._gazetteer.of(match[0]) & Word.FIRST) and match[0].lower() not in _VERBS_TOO

    def _is_believed_small(self, text: str, match: re.Match[str]) -> bool:
        """Tell whether a word in small letters behind a word of kinship is a name, by what follows it."""
        word, flags = match[0], self._gazetteer.of(match[0])
        if _CLOSED.match(text, match.end()):
            if word in _GIVEN_VERBS:
                return True  # "grandson mark, key card"
            if not flags and len(word) > _MIN_UNKNOWN:
                return _VOWEL.search(word) is not None
        if not flags and _WILL.match(text, match.end()) and word not in _SHORT_FOR:
            return _VOWEL.search(word) is not None  # "daughter ify called at"
        closed = _BEHIND_KIN.match(text, match.end()) is not None and word not in _VERBS_TOO
        return (bool(flags & Word.FIRST) and (not flags & Word.ORDINARY or closed)) or (
            word in _GIVEN_VERBS and self._surname_ends(text, match.end(), is_verb=True) is not None
        )

    def _is_believed(self, text: str, match: re.Match[str], cue: str, gap: str) -> bool:
        """Tell whether the word behind a word of kinship, in its case and by what follows it, is a name."""
        word, flags = match[0], self._gazetteer.of(match[0])
        has_sign = any(c in gap for c in ":=(_")
        is_plain = not flags & Word.ORDINARY
        named = bool(flags & (Word.FIRST | Word.LAST))
        if word.isupper() <= cue.isupper() and self._does(text, match):
            return True
        if word.islower():
            return self._is_believed_small(text, match)
        if word.isupper() and cue.isupper():
            surname = _SURNAME_AND_NUMBER.match(text, match.end())
            number = _NUMBER_NEXT.match(text, match.end()) is not None or (
                surname is not None and bool(self._gazetteer.of(surname[1]) & Word.LAST)
            )
            good = (bool(flags & Word.FIRST) and is_plain) or (is_plain and (has_sign or number))
            good = good or (named and number)
            ends = _ENDS_IN_CAPITALS.match(text, match.end()) is not None
            return good or (ends and (bool(flags & Word.FIRST) or word.lower() in _GIVEN_VERBS))
        if (named and (has_sign or cue.islower())) or (is_plain and (named or has_sign)):
            return True
        if cue.istitle() and word.istitle() and flags & Word.FIRST and _SMALL_NEXT.match(text, match.end()):
            return True  # "Daughter Raven to go as escort"
        unknown = not flags and word[1:].islower() and cue.islower()
        return unknown and _BEHIND_KIN.match(text, match.end()) is not None


def _gap(text: str, end: int, key: str, *, is_relation: bool) -> re.Match[str] | None:
    """Return what stands between a cue and the name behind it; ``key``: the cue in its canonical form."""
    gap = (_KIN_GAP if is_relation else _GAP).match(text, end)
    return _DOT_GAP.match(text, end) if gap is None and key in _SHORTENED else gap
