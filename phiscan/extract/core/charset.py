"""Bytes to text: byte-order mark, NUL pattern, strict UTF-8, then cp1252 with chardet as tie-break."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from contextlib import suppress
from functools import lru_cache

# Words with letters above ASCII to the code page in which they look most like words.
# Each candidate reads the same words. A letter that languages use often scores best; a capital within a
# word of small letters, a sign or a piece of a frame within a word scores worst. What is read best wins,
# where it is clearly better than Windows-1252.

CANDIDATES = ("cp1252", "iso8859-15", "cp850", "cp437", "cp863", "mac-roman")
_WORD = re.compile(rb"[A-Za-z\x80-\xff']*[\x80-\xff][A-Za-z\x80-\xff']*")
# Signs of units in Windows-1252, which spell nothing: 5 \xb5g, 37 \xb0C, 1.8 m\xb2, n\xb0 4.
_UNIT = re.compile(
    rb"\xb5(?:g|mol|M|[lL]|m|s|U|UI|IU|kat|V|A|Gy|Sv|Eq)?|[nN]?\xb0[CFKcf]?|(?:[cdkm]?m)?[\xb2\xb3]"
)
_MOST_WORDS, _LONGEST_WORD = 300, 32  # longer ones are no words
_MARGIN = 0.2  # of score for a character
# The letters above ASCII of each language, or of a group of languages that share them.
_ALPHABETS = {
    "French": "éèàêçâôîûëïùœæüÿ", "German": "äöüßé", "Spanish": "áéíóúñü", "Portuguese": "ãõáéíóúâêôçàü",
    "Italian": "àèéìòùîí", "Nordic": "åæøäöé", "Icelandic": "áéíóúýþæöð", "Estonian": "õäöü",
}  # fmt: skip
# Added to the score: of languages that read a word equally well, the one with more texts here is more likely.
_RARITY = {"French": 0.0, "German": 0.04, "Spanish": 0.04}
_OTHER_RARITY = 0.08
_OWN, _OTHER, _BORDER, _SIGN, _MISPLACED, _UNDEFINED = -0.2, -2.5, -0.3, -1.0, -5.0, -8.0
READABLE = _OWN - _MARGIN
_LAST_LATIN = 0x21F
_LAST_ASCII, _BLANK = 0x7F, 0x20
_ASCII = bytes(range(128))
_LOW_QUOTE = "\u201a"
_OPENING, _CLOSING = frozenset("\u2018“«„¿¡"), frozenset("\u2019”»…")
_AFTER_CEDILLA = frozenset("aouõãâôóúáAOU\u0131iüöeéèê")
_WITHIN = frozenset("\u2019\xad")
_ALONE = frozenset("\u2013—€°•·½¼¾²³ºª©®™§£±\xd7÷\xa0")


def scored_code_page(sample: bytes) -> tuple[str, float]:
    """Return the code page of a text in Latin letters, and its score, above ``READABLE`` for real words.

    >>> scored_code_page("Hélène Côté, née à Québec".encode("cp850"))[0]
    'cp850'
    """
    found = dict.fromkeys(
        word for word in _WORD.findall(sample) if len(word) <= _LONGEST_WORD and not _UNIT.fullmatch(word)
    )
    words = list(found)[:_MOST_WORDS]
    if not words:
        return "cp1252", 0.0
    text = b" ".join([b"", *words, b""])
    triples = Counter(
        triple for triple in zip(text, text[1:], text[2:], strict=False) if triple[1] > _LAST_ASCII
    )
    own = _score(triples, "cp1252")
    if own >= READABLE:  # no other can be clearly better
        return "cp1252", own
    scores = {name: _score(triples, name) for name in CANDIDATES}
    best = max(CANDIDATES, key=lambda name: scores[name])
    return (best, scores[best]) if scores[best] > own + _MARGIN else ("cp1252", own)


def is_latin(sample: bytes) -> bool:
    """Tell a text in Latin letters: within its words with letters above ASCII, most letters are ASCII."""
    words = b"".join(_WORD.findall(sample))
    return 2 * n_above_ascii(words) < len(words)


def n_above_ascii(data: bytes) -> int:
    """Return the number of bytes above 127."""
    return len(data.translate(None, _ASCII))


def _score(triples: Counter[tuple[int, int, int]], name: str) -> float:
    """Return the mean score of the bytes above ASCII, in the language that fits best."""
    placed, letters = 0.0, Counter[int]()
    n_signs = 0
    for triple, count in triples.items():
        placed += count * _placed(name, triple)
        if _characters(name)[triple[1]].isalpha():
            letters[triple[1]] += count
        else:
            n_signs += count
    alphabets = _spelt(name)
    spelt = max(sum(own[code] * count for code, count in letters.items()) for own in alphabets)
    return (placed + spelt) / max(n_signs + letters.total(), 1)


@lru_cache(maxsize=32)
def _characters(name: str) -> str:
    """Return the characters of the 256 bytes of a code page."""
    return "".join(bytes([code]).decode(name, "replace") for code in range(256))


@lru_cache(maxsize=32)
def _spelt(name: str) -> tuple[tuple[float, ...], ...]:
    """Return for each alphabet what each byte of a code page adds to the score."""
    lowered = [char if char == "İ" else char.lower() for char in _characters(name)]
    return tuple(
        tuple((_OWN if char in own else _OTHER) - _RARITY.get(language, _OTHER_RARITY) for char in lowered)
        for language, own in _ALPHABETS.items()
    )


@lru_cache(maxsize=16_384)
def _placed(name: str, triple: tuple[int, int, int]) -> float:
    """Return the score of a character between its neighbours; a blank ends the word."""
    before, char, after = ("" if code == _BLANK else _characters(name)[code] for code in triple)
    return (_letter if char.isalpha() else _sign)(before, char, after)


def _letter(before: str, char: str, after: str) -> float:
    """Return what speaks against a letter where it is: a capital among small letters, another script."""
    if ord(char) > _LAST_LATIN or char in "ªºµ":
        return _MISPLACED
    if char.isupper() and before.islower():
        return _MISPLACED
    if char == "ç" and after.isalpha() and after not in _AFTER_CEDILLA:
        return _SIGN
    return _SIGN if char.isupper() and after.islower() and before else 0.0


def _sign(before: str, char: str, after: str) -> float:
    if char == "\ufffd" or char < "\xa0":
        return _UNDEFINED
    if before.isalpha() and after.isalpha():
        return _BORDER if char in _WITHIN else _MISPLACED
    if char == _LOW_QUOTE:  # rarely used; it has the code of é in DOS
        return _MISPLACED if before.isalpha() else _SIGN
    if (char in _OPENING and not before.isalpha()) or (char in _CLOSING and not after.isalpha()):
        return _BORDER
    if char in _ALONE:
        return _BORDER if not before.isalpha() and not after.isalpha() else _OTHER
    return _MISPLACED


EBCDIC_PAGES = ("cp037", "cp500", "cp273", "cp1026")  # they differ in brackets and in letters with accents
_EBCDIC_BLANK, _MIN_BYTES = 0x40, 32
_USUAL_SHARE, _BLANK_SHARE, _LETTER_SHARE = 0.85, 0.05, 0.4


def ebcdic_page(sample: bytes) -> str:
    """Return the EBCDIC code page of a text by its blanks and letters, or the empty string when it is none.

    >>> ebcdic_page("PATIENT LENA OKAFOR BORN 1951-03-14 MRN 40718823".encode("cp037"))
    'cp037'
    """
    n_bytes = len(sample)
    if n_bytes < _MIN_BYTES or sample.count(_EBCDIC_BLANK) < _BLANK_SHARE * n_bytes:
        return ""
    text = sample.decode("cp037")
    n_letters = sum(char.isascii() and char.isalpha() for char in text)
    n_usual = n_letters + sum(char.isdecimal() or char.isspace() or char in ".,:;/-*()'_|" for char in text)
    if n_usual < _USUAL_SHARE * n_bytes or n_letters < _LETTER_SHARE * n_bytes:
        return ""
    page = _guess(sample)
    return page if page in EBCDIC_PAGES else "cp037"


_RUN = re.compile(rb"[\x80-\xff]{3}")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SEVEN_BITS = ((b"\x1b$B", "iso2022_jp_2"), (b"\x1b$@", "iso2022_jp_2"), (b"\x1b$)C", "iso2022_kr"))
_HZ = re.compile(rb"~\{(?:[!-w][!-~]){2,}~\}")  # Chinese between marks
_UTF7 = re.compile(rb"[A-Za-z]\+A[M-P][A-Za-z0-9]-[a-z]")  # an accented letter within a word
_SEVERAL_BYTES = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
# A character that a line break cuts: lines were folded by their bytes, as in calendars and cards.
_CUT = re.compile(
    rb"([\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})(\r?\n[ \t]?)([\x80-\xbf]{1,3})"
)
_ONE_BYTE = re.compile(r"iso8859|cp125|latin|cp437|cp85|ascii|mac")
_WESTERN = frozenset({"ascii", "cp1252", "iso8859-1", "iso8859-15", "latin-1"})  # declared by habit
_FEW_LOST = 50  # letters above ASCII for each that a declared encoding does not know, at least
_LEAST_WIDE, _WIDE_BYTES = 16, 1024  # of a sample that are enough to tell UTF-16
_FIRST_CJK = 0x30  # block of 256 code points
_LATIN = re.compile(r"cp125[047]|cp85[27]|cp775|cp86[01]|iso8859-2|mac-(?:latin2|turkish|iceland)")
_CAPITAL_WITHIN = re.compile("[a-zà-öø-ÿ][À-ÖØ-ÞŞŽ]")
_LEAST_LETTERS = 3  # above ASCII, for a model of languages
_ABOVE_ASCII = re.compile(rb"[^\n]*[\x80-\xff][^\n]*")  # lines
_FEW_BAD = 3  # whole characters for each bad byte, at least
_SAMPLE_BYTES = 64 * 1024
_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})
_MOST_CONTROLS = 50  # bytes of a text for each control character, at least
_NUL_SHARE = 0.2  # of the even or the odd bytes, above which the text is UTF-16


def decode(data: bytes) -> tuple[str, str]:  # noqa: PLR0911 (one return per kind of evidence)
    """Return the text of ``data`` and the name of its encoding; every byte sequence gives some text.

    >>> decode("Montr\u00e9al".encode("cp1252"))
    ('Montréal', 'cp1252')
    >>> decode("Smith".encode("utf-16-le"))
    ('Smith', 'utf-16-le')
    """
    if data.isascii() and b"\0" not in data and b"\x04" not in data:  # Russian in UTF-16 has it
        is_plain = b"\x1b$" not in data and b"+A" not in data and b"~{" not in data
        return (data.decode("ascii"), "utf-8") if is_plain else _from_seven_bits(data)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), encoding
    wide = _wide_encoding(data[:_SAMPLE_BYTES])
    if wide:
        return data.decode(wide, "replace"), wide
    whole = _utf8_text(data)
    if whole is not None:
        return whole, "utf-8"
    mainframe = ebcdic_page(data[:_SAMPLE_BYTES])
    if mainframe:
        return data.decode(mainframe, "replace").replace("\x85", "\n"), mainframe
    if _is_damaged_utf8(data[:_SAMPLE_BYTES]):
        return data.decode("utf-8", "as-cp1252"), "utf-8"
    encoding = _single_byte_encoding(data[:_SAMPLE_BYTES])
    return data.decode(encoding, "replace"), encoding


def decode_declared(data: bytes, declared: str) -> str:
    """Return the text of ``data``, whose encoding is declared; what contradicts the bytes is not believed.

    >>> decode_declared("Montréal".encode(), "iso-8859-1")
    'Montréal'
    """
    try:
        codec = codecs.lookup(declared).name
        if _ONE_BYTE.match(codec) and not data.isascii():
            with suppress(UnicodeDecodeError):
                return data.decode()
        sample = data[:_SAMPLE_BYTES]
        is_doubtful = codec in _WESTERN and _RUN.search(sample) is not None and not is_latin(sample)
        if not is_doubtful and (b"\0" not in data or "16" in codec or "32" in codec):
            return data.decode(codec)
    except UnicodeDecodeError:
        if not codec.startswith("utf"):
            text = data.decode(codec, "replace")
            if text.count("\ufffd") * _FEW_LOST <= n_above_ascii(data):
                return text
    except (LookupError, ValueError):
        pass
    return decode(data)[0]


def _utf8_text(data: bytes) -> str | None:
    """Return the text of UTF-8, also cut within a character; None where it is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(data) - 3 and _is_cut_utf8(data):
            return data.decode("utf-8", "replace")
    joined = _CUT.sub(rb"\1\3\2", data)
    if joined != data:
        return _utf8_text(joined)
    return None


def utf8_or_none(data: bytes) -> str | None:
    """Return the text of UTF-8; None where a byte is none."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _from_seven_bits(data: bytes) -> tuple[str, str]:
    """Return the text of ASCII bytes, which may be those of a code that needs no more than seven bits."""
    codes = [code for mark, code in _SEVEN_BITS if mark in data]
    if b"+A" in data and len(_UTF7.findall(data[:_SAMPLE_BYTES])) > 1:
        codes.append("utf-7")
    if b"~{" in data and _HZ.search(data):
        codes.append("hz")
    for code in codes:
        with suppress(UnicodeDecodeError):
            return data.decode(code), code
    return data.decode("ascii"), "utf-8"


def _is_damaged_utf8(sample: bytes) -> bool:
    """Tell UTF-8 with a few bad bytes: its characters of several bytes are no accident."""
    whole = _SEVERAL_BYTES.findall(sample)
    n_high = n_above_ascii(sample)
    n_bad = n_high - sum(map(len, whole))
    return len(whole) > _FEW_BAD * n_bad


def _as_cp1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("as-cp1252", _as_cp1252)


def _is_cut_utf8(data: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=False)
    except UnicodeDecodeError:
        return False
    return True


def _wide_encoding(sample: bytes) -> str:
    """Tell UTF-16 and UTF-32 without mark from where the NUL bytes lie, or from letters of one script."""
    if len(sample) > 1 and _n_controls(sample) > len(sample) // _MOST_CONTROLS:
        return _wide_script(sample[:_WIDE_BYTES]) or (_by_nul_bytes(sample) if b"\0" in sample else "")
    return ""


def _wide_script(sample: bytes) -> str:
    """Return the byte order of UTF-16 without a mark in another script than Latin, or an empty string."""
    for name in ("utf-16-le", "utf-16-be") if len(sample) >= _LEAST_WIDE else ():
        text = sample.decode(name, "replace")
        blocks = {min(ord(char) >> 8, _FIRST_CJK) for char in text} - {0, 0x20}
        n_usual = sum(char.isspace() or unicodedata.category(char)[0] in "LNP" for char in text)
        if len(blocks) == 1 and n_usual > _USUAL_SHARE * len(text):
            return name
    return ""


def _by_nul_bytes(sample: bytes) -> str:
    n_units = len(sample) // 2
    even = sample[0 : 2 * n_units : 2].count(0) / n_units
    odd = sample[1 : 2 * n_units : 2].count(0) / n_units
    if even > _NUL_SHARE and odd > _NUL_SHARE:
        quarter = max(len(sample) // 4, 1)
        lanes = [sample[lane::4].count(0) / quarter for lane in range(4)]
        if lanes[0] < _NUL_SHARE and min(lanes[2:]) > 1 - _NUL_SHARE:
            return "utf-32-le"
        if lanes[3] < _NUL_SHARE and min(lanes[:2]) > 1 - _NUL_SHARE:
            return "utf-32-be"
        return ""
    if odd > _NUL_SHARE:
        return "utf-16-le"
    return "utf-16-be" if even > _NUL_SHARE else ""


def _single_byte_encoding(sample: bytes) -> str:
    """Choose by what the letters spell; chardet is asked where they spell no Latin words."""
    if _n_controls(sample) > len(sample) // _MOST_CONTROLS:
        return "cp1252"  # no text
    own, score = scored_code_page(sample)
    if score >= READABLE or n_above_ascii(sample) < _LEAST_LETTERS:
        return own
    guess = _guess(b"\n".join(_ABOVE_ASCII.findall(sample)))
    is_likely = _LATIN.fullmatch(guess) and not _CAPITAL_WITHIN.search(sample.decode(guess, "replace"))
    return guess if guess and (not is_latin(sample) or is_likely) else own


def _guess(sample: bytes) -> str:
    """Return the encoding of a text by a model of the languages; empty where there is none."""
    import chardet  # noqa: PLC0415 (slow to import, rarely needed)

    return _codec(chardet.detect(sample)["encoding"])


def _n_controls(sample: bytes) -> int:
    return len(sample) - len(sample.translate(None, _CONTROLS))


def _codec(name: str | None) -> str:
    """Return the codec of an encoding by its name, or the empty string."""
    try:
        return codecs.lookup(name).name if name else ""
    except LookupError:
        return ""
