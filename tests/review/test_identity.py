"""Keyed hashes link writings of one value; shapes let nothing of it through; the key stays secret."""

import hmac
import os
import stat
import string
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.errors import ConfigError
from phiscan.store.identity import create_key, is_shape, keyed_hash, load_key, normalise, shape

KEY = bytes(range(32))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("046 454 286", "046-454-286"),
        ("(613) 555-0199", "613.555.0199"),
        ("1234-567-890-AB", "1234 567 890 ab"),
        ("Ana  MARIA", "ana maria"),
        ("STRASSE", "straße"),
        ("\uff16\uff11\uff13\uff15\uff15\uff15", "613 555"),
    ],
)
def test_writings_of_one_value_have_one_hash(first: str, second: str) -> None:
    assert keyed_hash(KEY, "X", first) == keyed_hash(KEY, "X", second)


@pytest.mark.parametrize(
    ("first", "second"), [("Ann", "Anne"), ("ana maria", "anamaria"), ("046454286", "046454287")]
)
def test_different_values_have_different_hashes(first: str, second: str) -> None:
    assert keyed_hash(KEY, "X", first) != keyed_hash(KEY, "X", second)


def test_the_hash_is_the_hmac_that_the_page_describes() -> None:
    # printf 'SIN\000046454286' | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102...1f
    made = hmac.digest(KEY, b"SIN\x00046454286", "sha256").hex()
    assert keyed_hash(KEY, "SIN", "046 454 286") == made


@given(st.text())
def test_a_shape_keeps_no_letter_or_digit(text: str) -> None:
    masked = shape(text)
    assert is_shape(masked)
    assert set(masked) <= set("Xx9?… " + string.punctuation)
    assert len(masked) <= 41
    assert shape(masked) == masked or "…" in masked


@given(st.text())
def test_hashing_takes_any_text(text: str) -> None:
    assert len(keyed_hash(KEY, "X", text)) == 64
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ("J. Smith 613-555-0199", "X. Xxxxx 999-999-9999"),
        ("Ünal Ğ²", "Xxxx X9"),
        ("x" * 41, "x" * 40 + "…"),
        ("x" * 40, "x" * 40),
        ("Jose\u0301", "Xxxxx"),
        ("a\u202eb\x1b[31m", "x?x?[99x"),
        ("王小明", "xxx"),
        ("😀", "?"),
    ],
)
def test_shapes(value: str, masked: str) -> None:
    assert shape(value) == masked


def test_nothing_unmasked_counts_as_a_shape() -> None:
    for char in map(chr, range(0x3000)):
        if unicodedata.category(char)[0] in "LNMC" and char not in "Xx9":
            assert not is_shape(char), hex(ord(char))


def test_a_new_key_is_secret_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "home" / "key"
    before = os.umask(0)
    try:
        assert create_key(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    key = load_key(path)
    assert len(key) == 32
    assert not create_key(path)
    assert load_key(path) == key
    assert list(path.parent.iterdir()) == [path]


def refused(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_key(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_refuses_a_bad_key_file_in_one_line_without_its_content(tmp_path: Path) -> None:
    path = tmp_path / "key"
    assert "no such key file; `phiscan init` makes one" in refused(path)
    for content in (b"", b"canary-key", b"ab" * 31, b"\xff" * 64, b"zz" * 32):
        path.write_bytes(content)
        path.chmod(0o600)
        assert "expected 64 hexadecimal digits" in refused(path)
        assert "canary" not in refused(path)
    path.write_text("ab" * 32)
    path.chmod(0o640)
    assert "has mode 0640, expected 0600" in refused(path)
    path.unlink()
    path.mkdir()
    assert "cannot be read" in refused(path)


def test_refuses_to_write_a_key_where_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written"):
        create_key(tmp_path / "file" / "key")
