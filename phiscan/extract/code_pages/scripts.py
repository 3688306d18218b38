"""Code pages of texts in other scripts than Latin: guessed by chardet, checked by what the letters spell.

A short text gives any model of a language little confidence. Whether a guess is right shows in its letters:
all of one script, capitals only where a word begins, in the scripts of East Asia characters of frequent use.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from itertools import pairwise

_RUN = re.compile(rb"[\x80-\xff]{3}")
_EAST_ASIAN = ("shift_jis", "euc_jp", "gb18030", "big5", "cp949", "johab")
_SCRIPTS = (
    ("Greek", 0x370, 0x3FF),
    ("Cyrillic", 0x400, 0x52F),
    ("Hebrew", 0x590, 0x5FF),
    ("Arabic", 0x600, 0x6FF),
    ("Thai", 0xE00, 0xE7F),
    ("East Asian", 0x3041, 0x30FF),
    ("East Asian", 0x4E00, 0x9FFF),
    ("Korean", 0xAC00, 0xD7A3),
    ("East Asian", 0xFF66, 0xFF9F),
)
# Characters that names, dates and notes use often, in Japan, in Taiwan and Hong Kong, and in China.
_FREQUENT = {
    "ja": (
        "患者氏名生年月日診断書入院退病医師先男女性別歳時分今後前上下中大小高山田木村本井川原野島藤"
        "林森佐伊渡辺鈴橋加吉石松清水池岡長谷近遠斉内外東西南北京都府県市区町丁目番号電話住所糖尿喘"
        "息血圧心不全肺炎胃癌肝痛熱咳薬処方検査手術治療経過良好説明家族父母子夫妻紹介状健一二三四五"
        "六七八九十郎太美恵花真由香正和昭平成令同様見来行出合会社学校"
    ),
    "zh-Hant": (
        "病人患者姓名性別年齡出生日期電話地址診斷醫院師門住檢查治療藥物手術糖尿高血壓心臟肺炎胃癌肝"
        "氣喘痛發燒咳嗽陳林黃張李王吳劉蔡楊許鄭謝郭洪曾邱廖賴徐周葉蘇莊呂江何羅蕭潘簡朱鍾游彭詹胡施"
        "沈余盧梁趙顏柯翁魏孫戴志明美玲雅婷怡君家豪淑芬惠華國文英俊傑宗翰建宏冠宇的是在有因為與及不"
        "無已回休養史"
    ),
    "zh-Hans": (
        "病人患者姓名性别年龄出生日期电话地址诊断医院师门住检查治疗药物手术糖尿高血压心脏肺炎胃癌肝"
        "哮喘痛发烧咳嗽王李张刘陈杨赵黄周吴徐孙胡朱林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭"
        "吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟"
        "龙万段雷钱汤尹黎易常武乔贺赖龚文建国英秀伟强敏静丽军勇艳娟涛明超的是在有因为与及不无已回休"
        "养"
    ),
}
_COMMON = frozenset(char for chars in _FREQUENT.values() for char in chars)
_LEAST_SHARE, _LEAST_CHARS = 0.85, 3
_LEAST_COMMON = 0.25
_LETTERS_PER_CAPITAL = 32  # of those within a word, at least
_NARROW_KANA = 0.5  # the plausibility of katakana of half the width
_SAMPLE_BYTES = 4096
_LEAST_WIDE_BYTES = 16


def has_run(sample: bytes) -> bool:
    """Return whether three bytes above ASCII follow each other, as they hardly do in Latin letters."""
    return bool(_RUN.search(sample))


def other_script(sample: bytes, guess: str) -> str:
    """Return the code page of a text in another script than Latin; empty where none reads it well.

    >>> other_script("Фёдорова Анна".encode("cp1251"), "cp1251")
    'cp1251'
    """
    sample = _other_lines(sample)
    names = [guess, *(name for name in _EAST_ASIAN if name != guess)] if guess else list(_EAST_ASIAN)
    scores = {name: _plausibility(sample, name) for name in names}
    best = max(names, key=lambda name: scores[name])
    return best if scores[best] > 0 else ""


def _other_lines(sample: bytes) -> bytes:
    """Return the lines that hold more than ASCII, from the first such byte on."""
    lines = b"\n".join(line for line in sample.split(b"\n") if not line.isascii())
    first = _RUN.search(lines)
    start = 0 if first is None or first.start() < _SAMPLE_BYTES // 2 else first.start()
    return lines[start : start + _SAMPLE_BYTES]


def wide_script(sample: bytes) -> str:
    """Return the byte order of UTF-16 without a mark in another script than Latin, or an empty string."""
    sample = sample[: _SAMPLE_BYTES & ~1]
    if len(sample) < _LEAST_WIDE_BYTES:
        return ""
    return next((name for name in ("utf-16-le", "utf-16-be") if _plausibility(sample, name) > 0), "")


def _plausibility(sample: bytes, name: str) -> float:
    """Return from 0 to 1 how well a code page reads a text in one script."""
    text = _decoded(sample, name)
    if not text:
        return 0.0
    chars = [char for char in text if ord(char) > 0x7F and char.isalpha()]  # noqa: PLR2004 (ASCII)
    n_signs = sum(
        char not in "\r\n\t\f"
        and (char < " " or ("\x7f" < char < "\u2000" and not char.isalpha() and not char.isspace()))
        for char in text
    )
    scripts = Counter(_script(char) for char in chars)
    script, count = scripts.most_common(1)[0] if scripts else ("", 0)
    total = len(chars) + n_signs
    if not script or count < _LEAST_CHARS or count < _LEAST_SHARE * total or _has_misplaced_capitals(text):
        return 0.0
    if script == "East Asian":
        return _east_asian(chars)
    return count / total


def _east_asian(chars: list[str]) -> float:
    """Return the share of characters of frequent use, kana among them; 0 where it is too small."""
    n_common = sum(char in _COMMON or "\u3041" <= char <= "\u30ff" for char in chars)
    n_narrow = sum("\uff66" <= char <= "\uff9f" for char in chars)
    if n_narrow > _LEAST_SHARE * len(chars):
        return _NARROW_KANA
    share = n_common / len(chars)
    return share if share >= _LEAST_COMMON else 0.0


def _decoded(sample: bytes, name: str) -> str:
    """Return the text, whose last character may be cut; empty where the code page does not read it."""
    try:
        return codecs.getincrementaldecoder(name)("strict").decode(sample)
    except (LookupError, UnicodeDecodeError):
        return ""


def _script(char: str) -> str:
    code = ord(char)
    return next((name for name, first, last in _SCRIPTS if first <= code <= last), "")


def _has_misplaced_capitals(text: str) -> bool:
    """Tell a text in which capitals follow small letters more often than a name like McDonald does."""
    n_misplaced = sum(one.islower() and other.isupper() for one, other in pairwise(text))
    return _LETTERS_PER_CAPITAL * n_misplaced > sum(map(str.isalpha, text))
