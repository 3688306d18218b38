"""Value to its stored substitutes: a keyed hash to link equal values, a masked shape to recognise them.

A plain hash of a phone number can be inverted by trying all phone numbers; a keyed hash cannot without the
key, which is stored outside the database.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phiscan.errors import ConfigError
from phiscan.hasher import Hasher, KeyHasher

if TYPE_CHECKING:  # workers need no database
    import sqlalchemy as sa

# The secret of the keyed hashes, or a client of the process that has it.
Key = bytes | Hasher

N_KEY_BYTES = 32
OPTION = "phiscan_hash_key"  # execution option of a connection that holds the key
MAX_SHAPE_CHARS = 40
_ELLIPSIS = "…"
_LEFT_OUT = "?"  # replaces a character that is neither letter, digit nor ASCII punctuation

# Separators that people write inside numbers: 613-555-0199 and (613) 555.0199 are one number.
_NUMBER_SEPARATORS = re.compile(r"[\s\-\u2010-\u2015\u2212_./\\()\[\]{}#:,;'\"·*]+")
_WORD = re.compile(r"[^\W\d_]{3,}")
_PARTICLES = frozenset(("van", "von", "der", "den", "del", "des", "dos", "the", "and", "mrs", "miss"))
WORD = "WORD"  # the type of the hash of a word of a name
N_WORD_BYTES, MOST_WORDS = 8, 20  # of that hash; of a name
_MASKED_ASCII = str.maketrans("", "", "Xx9?… !\"#$%&'()*+,-./:;<=>@[\\]^_`{|}~")


def load_key(path: Path) -> bytes:
    """Read the secret of the keyed hashes.

    Raises:
        ConfigError: names the file: missing, unreadable, readable by others, or not a key; or its folder, if
            everybody may write there.
    """
    try:
        mode = path.stat().st_mode & 0o777
        folder = path.parent.stat().st_mode
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise ConfigError(path, "no such key file; `phiscan init` makes one") from None
    except OSError as error:
        raise ConfigError(path, f"key file cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        text = ""
    if mode & 0o077:
        raise ConfigError(path, f"key file has mode {mode:04o}, expected 0600: others must not read it")
    if folder & stat.S_IWOTH and not folder & stat.S_ISVTX:
        raise ConfigError(
            path.parent, f"has mode {folder & 0o777:04o}, expected 0700: everybody could change the key"
        )
    if not re.fullmatch(rf"[0-9a-f]{{{2 * N_KEY_BYTES}}}", text):
        raise ConfigError(path, f"not a key file: expected {2 * N_KEY_BYTES} hexadecimal digits")
    return bytes.fromhex(text)


def create_key(path: Path, key: bytes | None = None) -> bool:
    """Write a key (None = a random one) with mode 0600 unless there is one; return whether it was written.

    A key is never overwritten: every hash in the database would be orphaned. Two programs at once end
    with one complete key.

    Raises:
        ConfigError: the file cannot be written.
    """
    if path.exists():
        return False
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as stream:
                stream.write((key or secrets.token_bytes(N_KEY_BYTES)).hex() + "\n")
                stream.flush()
                os.fsync(stream.fileno())
            os.link(draft, path)  # fails when there is one already, unlike a rename
        finally:
            draft.unlink()
    except OSError as error:
        if isinstance(error, FileExistsError) and path.exists():
            return False  # another program was quicker
        raise ConfigError(path, f"key file cannot be written: {error.strerror}") from None
    return True


def draft_of(key_file: Path) -> Path:
    """Return the path of the draft of a new key."""
    return key_file.with_name(f"{key_file.name}.next")


def replace_key(draft: Path, path: Path) -> None:
    """Put a new key in the place of a key file; the old bytes are overwritten, as far as the disk does that.

    Raises:
        ConfigError: the files cannot be written.
    """
    try:
        old = os.open(path, os.O_WRONLY | os.O_CLOEXEC) if path.exists() else None
        draft.replace(path)  # from here on the new key is active
        if old is not None:
            os.pwrite(old, bytes(os.fstat(old).st_size), 0)
            os.fsync(old)
            os.close(old)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)
    except OSError as error:
        why = f"the new key cannot be put in place: {error.strerror}; run the command again"
        raise ConfigError(path, why) from None


def key_of(connection: sa.Connection) -> bytes | None:
    """Return the key of the hashes that this connection was given, or None."""
    key: bytes | None = connection.get_execution_options().get(OPTION)
    return key


def keyed_hash(key: Key, entity_type: str, value: str) -> str:
    """Return HMAC-SHA256 over the type and the normalised value, as 64 hexadecimal digits.

    >>> keyed_hash(b"k" * 32, "PHONE", "(613) 555-0199") == keyed_hash(b"k" * 32, "PHONE", "613.555.0199")
    True
    >>> keyed_hash(b"k" * 32, "PHONE", "6135550199") == keyed_hash(b"k" * 32, "FAX", "6135550199")
    False
    """
    return keyed_hashes(key, [(entity_type, value)])[0]


def keyed_hashes(key: Key, values: Sequence[tuple[str, str]]) -> list[str]:
    """Return ``keyed_hash`` of each type and value, with one request to the process that has the key."""
    messages = [
        f"{entity_type}\0{normalise(value)}".encode("utf-8", "surrogatepass") for entity_type, value in values
    ]
    return [digest.hex() for digest in hasher_of(key).identities(messages)]


def words_of_name(name: str) -> list[str]:
    """Return the words of a name that tell somebody apart, in lower case without accents.

    >>> words_of_name("Dr. Zoé van der Lévesque-Roy")
    ['zoe', 'levesque', 'roy']
    """
    plain = "".join(
        one for one in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(one)
    )
    return [word for word in _WORD.findall(plain) if word not in _PARTICLES]


def hasher_of(key: Key) -> Hasher:
    """Return the hasher of a key."""
    return KeyHasher(key) if isinstance(key, bytes) else key


def normalise(value: str) -> str:
    """Return the canonical form of an identifier: NFKC, case-folded, separators normalised.

    In a value with digits the separators vanish; elsewhere runs of white space become one space.

    >>> normalise("1234-567 890 ab"), normalise("Ana  MARIA")
    ('1234567890ab', 'ana maria')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", value).casefold())
    if any(char.isdecimal() for char in folded):
        # A combining mark after a removed separator now follows a letter: compose again.
        return unicodedata.normalize("NFKC", _NUMBER_SEPARATORS.sub("", folded)).casefold()
    return " ".join(folded.split())


def shape(value: str) -> str:
    """Return a masked preview: letters become X or x, digits 9, punctuation and spaces stay.

    At most 40 code points, then an ellipsis. Everything else (marks, symbols, control characters)
    becomes x or ?, so that nothing of the value but its ASCII punctuation survives.

    >>> shape("J. Smith 613-555-0199")
    'X. Xxxxx 999-999-9999'
    """
    masked = "".join(_mask(char) for char in value[:MAX_SHAPE_CHARS])
    return masked + _ELLIPSIS if len(value) > MAX_SHAPE_CHARS else masked


def is_shape(text: str) -> bool:
    """Return whether a text is a possible result of ``shape``.

    >>> is_shape("Xx 99"), is_shape("Ann 99")
    (True, False)
    """
    return len(text) <= MAX_SHAPE_CHARS + 1 and not text.translate(_MASKED_ASCII)


def _mask(char: str) -> str:
    category = unicodedata.category(char)
    if category[0] == "L":
        return "X" if category in {"Lu", "Lt"} else "x"
    if category[0] == "N":
        return "9"
    if category[0] == "M":
        return "x"
    if char.isascii() and category[0] in "PS":
        return char
    if category[0] == "P":
        return "-" if category == "Pd" else _LEFT_OUT
    return " " if char.isspace() else _LEFT_OUT
