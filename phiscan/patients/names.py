"""Names of persons to sets of (given, family) name pairs in a canonical spelling, by tables and rules.

``Müller, Hans-Peter``, ``Hans P. Mueller`` and ``MULLER HANS`` share a pair. Order, middle names, titles,
accents, hyphens and the usual short forms of given names are ignored, and letters that OCR confuses are
equal.
"""

# ruff: noqa: RUF001 (the tables hold letters of other alphabets)

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from phiscan.patients.normalise import plain

MAX_TOKENS = 5  # of one written name; of a longer one the first ones
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")  # with digits: OCR reads some letters as digits
_ASIDE = frozenset(
    "mr mrs ms miss mx dr prof sir madam m mme mlle jr sr ii iii iv esq md phd rn"  # noqa: SIM905 (a list of words)
    " de la le du des der den van von di da del della dos das el al bin ibn st".split()
)
_CYRILLIC = {
    "а": "a", "б": "b", "в": "v", "г": "g", "ґ": "g", "д": "d", "е": "e", "ё": "e", "є": "e", "ж": "zh",
    "з": "z", "и": "i", "і": "i", "ї": "i", "й": "i", "к": "k", "л": "l", "м": "m", "н": "n", "о": "o",
    "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh",
    "щ": "shch", "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "iu", "я": "ia",
}  # fmt: skip
_GREEK = {
    "α": "a", "β": "v", "γ": "g", "δ": "d", "ε": "e", "ζ": "z", "η": "i", "θ": "th", "ι": "i", "κ": "k",
    "λ": "l", "μ": "m", "ν": "n", "ξ": "x", "ο": "o", "π": "p", "ρ": "r", "σ": "s", "ς": "s", "τ": "t",
    "υ": "y", "φ": "f", "χ": "ch", "ψ": "ps", "ω": "o",
}  # fmt: skip
_LATIN = str.maketrans({**_CYRILLIC, **_GREEK})
# Short forms by given name.
_SHORT_FORMS = {
    "robert": "bob bobby rob robbie bert", "william": "bill billy will willie liam",
    "richard": "dick rick ricky rich",
    "elizabeth": "liz lizzie beth betty eliza lisa elisabeth", "margaret": "peggy maggie meg marge greta",
    "katherine": "kate kathy katie kat catherine kathryn cathy katharine", "james": "jim jimmy jamie",
    "john": "jack johnny jon", "michael": "mike mick micky mikey", "edward": "ed eddie ted ned",
    "thomas": "tom tommy", "joseph": "joe joey", "charles": "charlie chuck chas", "anthony": "tony antony",
    "alexander": "alex sandy sasha alec", "alexandra": "lexi alexa", "andrew": "andy drew",
    "benjamin": "ben benny", "christopher": "chris kit topher", "daniel": "dan danny", "david": "dave davey",
    "deborah": "deb debbie debra", "dorothy": "dot dottie dolly", "frederick": "fred freddie",
    "gerald": "gerry jerry", "gregory": "greg", "jennifer": "jen jenny", "jessica": "jess jessie",
    "jeffrey": "jeff geoff geoffrey", "kenneth": "ken kenny", "lawrence": "larry laurence",
    "leonard": "len lenny leo", "matthew": "matt", "nicholas": "nick nicolas", "pamela": "pam",
    "patricia": "pat patty trish tricia", "peter": "pete", "philip": "phil phillip", "raymond": "ray",
    "rebecca": "becky becca", "ronald": "ron ronnie", "samuel": "sam sammy", "samantha": "sammie",
    "stephen": "steve steven stevie", "susan": "sue susie suzanne", "theresa": "terry tess teresa",
    "timothy": "tim", "victoria": "vicky tori", "vincent": "vince", "walter": "walt", "zachary": "zach zack",
    "abigail": "abby gail", "barbara": "barb babs", "donald": "don donnie", "douglas": "doug",
    "eugene": "gene", "francis": "frank frankie", "henry": "hank harry", "jacqueline": "jackie",
    "joshua": "josh", "nathaniel": "nate nathan", "veronica": "ronnie", "virginia": "ginny",
}  # fmt: skip
_FULL_FORM = {short: full for full, shorts in _SHORT_FORMS.items() for short in shorts.split()}
_CONFUSED = (("rn", "m"), ("cl", "d"), ("vv", "w"), ("ue", "u"), ("oe", "o"), ("ae", "a"))
# What is written together with the next word, or apart: O'Malley, O Malley, MacDonald, de Vries, DeVries.
_PREFIXES = frozenset(
    "o l d mac mc de la le du des der den van von di da del della dos el al bin ibn st"  # noqa: SIM905
    " ste saint sainte".split()
)
_SPELLED = ((re.compile(r"^sainte?(?=[a-z]{3})"), "st"), (re.compile(r"^mc(?=[a-z]{3})"), "mac"))
_ONE_LETTER = str.maketrans("ijec1!|05", "lleelll" + "os")


@lru_cache(maxsize=262_144)
def token_form(word: str) -> str:
    """Return one word of a name in canonical spelling.

    >>> token_form("Müller") == token_form("MUELLER") == token_form("Muller")
    True
    >>> token_form("Bob") == token_form("Robert"), token_form("Barnes") == token_form("Bames")
    (True, True)
    """
    text = plain(word).translate(_LATIN).replace("'", "")
    text = _FULL_FORM.get(text, text)
    for spelled, by in _SPELLED:
        text = spelled.sub(by, text)
    for confused, form in _CONFUSED:
        if confused in text:
            text = text.replace(confused, form)
    return text.translate(_ONE_LETTER)


def tokens_of(name: str) -> list[str]:
    """Return the words of a written name in canonical spelling, without titles, particles and initials.

    >>> tokens_of("Dr. Ann B. van der Berg, MD") == [token_form("Ann"), token_form("Berg")]
    True
    """
    words = _WORD.findall(plain(name) if name.isascii() else plain(name).translate(_LATIN))
    tokens = [
        token_form(word) for word in words if len(word) > 1 and word not in _ASIDE and not word.isdecimal()
    ]
    return tokens[:MAX_TOKENS]


def _joined(name: str) -> list[str]:
    """Return each word of a name that follows prefixes, written together with them.

    >>> _joined("Anna van der Berg") == [token_form("Vanderberg")]
    True
    >>> _joined("St-Onge") == _joined("Saint Onge") == [token_form("Saintonge")]
    True
    """
    found, prefix = [], ""
    for word in _WORD.findall(plain(name).translate(_LATIN)):
        if word in _PREFIXES:
            prefix += word
            continue
        if prefix:
            found.append(token_form(prefix + word))
        prefix = ""
    return found


def pair_of(first: str, second: str) -> str:
    """Return the key of two name tokens, whatever their order.

    >>> pair_of("roy", "ann") == pair_of("ann", "roy")
    True
    """
    return f"{first} {second}" if first <= second else f"{second} {first}"


def listed_pairs(given: str, family: str) -> Iterator[str]:
    """Yield the pairs of a patient: the first given name with each part of the family name.

    >>> len(set(listed_pairs("Ana Maria", "Garcia-Lopez")))
    3
    """
    firsts, lasts = tokens_of(given), tokens_of(family)
    if not firsts or not lasts:
        return
    for last in lasts[:2]:
        yield pair_of(firsts[0], last)
    if len(lasts) > 1:
        yield pair_of(firsts[0], "".join(lasts[:2]))
    whole = [token_form("".join(plain(given).split("-")))] if "-" in given else []
    for last in {*_joined(family), *(lasts[:1] if whole else ())}:
        for first in {firsts[0], *whole}:
            yield pair_of(first, last)


def forms_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in a document, and those that follow prefixes written together with them.

    >>> forms_of("O Malley, Siobhan")[-1] == token_form("O'Malley")
    True
    """
    return tuple(dict.fromkeys((*tokens_of(name), *_joined(name))))
