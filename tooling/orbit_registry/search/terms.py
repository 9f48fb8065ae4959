"""The terms a text is compared and found by; every index and every query uses these, and nothing here ranks.

A text is brought to Unicode's NFKC form and read as words; identifiers come apart (`parseHTTPHeader`,
`parse_http_header` and `parse-http-header` are all parse, http, header), letters and digits are parted, English words
are stemmed, common words are left out. Writing without spaces between words (Chinese, Japanese, Thai) gives pairs of
neighbouring characters, and so does Korean. A change of what this module returns makes every stored term wrong: raise
`TERMS_VERSION` with it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import chain

_VOWELS = frozenset("aeiouy")
_VOWEL_AND_CONSONANT = re.compile("[aeiouy][^aeiouy]")
DOUBLES = frozenset(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"))
LI_ENDINGS = frozenset("cdeghkmnrt")
WHOLE_WORDS = {
    "skis": "ski",
    "skies": "sky",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",  # codespell:ignore singl
    "sky": "sky",
    "news": "news",
    "howe": "howe",
    "atlas": "atlas",
    "cosmos": "cosmos",
    "bias": "bias",
    "andes": "andes",
}
AFTER_PLURAL = frozenset(
    ("inning", "outing", "evening", "canning", "herring", "earring", "proceed", "exceed", "succeed")
)
REGION_PREFIXES = (
    "gener",
    "commun",  # codespell:ignore commun
    "arsen",
    "univers",
    "later",
    "emerg",
    "organ",
    "inter",
)

# Ordered so that a suffix stands before those it ends with: the algorithm takes the longest that fits, then no other.
STEP_2 = (
    ("ization", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("entli", "ent"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ousli", "ous"),
    ("iviti", "ive"),
    ("fulli", "ful"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("abli", "able"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("alli", "al"),
    ("bli", "ble"),
    ("ogi", "og"),
    ("li", ""),
)
STEP_3 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ative", ""),  # codespell:ignore ative
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
)
STEP_4 = (
    "ement",
    "ance",
    "ence",
    "able",
    "ible",
    "ment",  # codespell:ignore ment
    "ant",
    "ent",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
    "ion",
    "al",
    "er",
    "ic",
)


_ENDS_2, _ENDS_3 = (tuple(suffix for suffix, _ in step) for step in (STEP_2, STEP_3))


def stem(word: str) -> str:
    """Return the stem of a lower-case English word; a word of up to two letters is its own."""
    if len(word) <= 2:
        return word
    if word in WHOLE_WORDS:
        return WHOLE_WORDS[word]
    word = _mark_consonant_y(word)
    is_special = word.startswith(REGION_PREFIXES)
    region_1 = len(next(filter(word.startswith, REGION_PREFIXES))) if is_special else _region(word, 0)
    region_2 = _region(word, region_1)
    word = _without_plural(word)
    if word in AFTER_PLURAL:
        return word
    word = _without_ed_or_ing(word, region_1)
    if word[-1] in "yY" and len(word) > 2 and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    if word.endswith(_ENDS_2):  # one look for all suffixes, which most words have none of
        word = _step_2(word, region_1)
    if word.endswith(_ENDS_3):
        word = _step_3(word, region_1, region_2)
    if word.endswith(STEP_4):
        word = _step_4(word, region_2)
    return _without_final_e_or_l(word, region_1, region_2).replace("Y", "y")


def _mark_consonant_y(word: str) -> str:
    if "y" not in word:
        return word
    letters = list(word)
    for i, letter in enumerate(letters):
        if letter == "y" and (i == 0 or letters[i - 1] in _VOWELS):
            letters[i] = "Y"
    return "".join(letters)


def _region(word: str, start: int) -> int:
    """Return where the part after the first vowel and consonant behind `start` begins."""
    found = _VOWEL_AND_CONSONANT.search(word, start)
    return found.end() if found else len(word)


def _has_vowel(part: str) -> bool:
    return any(letter in _VOWELS for letter in part)


def _ends_short_syllable(word: str) -> bool:
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    return (
        len(word) > 2
        and word[-1] not in _VOWELS
        and word[-1] not in "wxY"
        and word[-2] in _VOWELS
        and word[-3] not in _VOWELS
    )


def _without_plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _without_ed_or_ing(word: str, region_1: int) -> str:
    for suffix in ("eedly", "eed"):
        if word.endswith(suffix):
            start = len(word) - len(suffix)
            return word[:start] + "ee" if start >= region_1 else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if not _has_vowel(rest):
                return word
            if suffix == "ing" and len(rest) == 2 and rest[1] == "y":
                return rest[0] + "ie"
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if rest[-2:] in DOUBLES and not (len(rest) == 3 and rest[0] in "aeo"):
                return rest[:-1]
            if region_1 >= len(rest) and _ends_short_syllable(rest):
                return rest + "e"
            return rest
    return word


def _step_2(word: str, region_1: int) -> str:
    for suffix, replacement in STEP_2:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            fits = len(rest) >= region_1
            if suffix == "ogi":
                fits = fits and rest.endswith("l")
            elif suffix == "li":
                fits = fits and rest[-1:] in LI_ENDINGS
            return rest + replacement if fits else word
    return word


def _step_3(word: str, region_1: int, region_2: int) -> str:
    for suffix, replacement in STEP_3:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            fits = len(rest) >= (region_2 if suffix == "ative" else region_1)  # codespell:ignore ative
            return rest + replacement if fits else word
    return word


def _step_4(word: str, region_2: int) -> str:
    for suffix in STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            fits = len(rest) >= region_2 and (suffix != "ion" or rest[-1:] in ("s", "t"))
            return rest if fits else word
    return word


def _without_final_e_or_l(word: str, region_1: int, region_2: int) -> str:
    rest = word[:-1]
    if word.endswith("e"):
        if len(rest) >= region_2 or (len(rest) >= region_1 and not _ends_short_syllable(rest)):
            return rest
    elif word.endswith("ll") and len(rest) >= region_2:
        return rest
    return word


TERMS_VERSION = 1

LONGEST_TERM = 64
_MOST_REMEMBERED = 100_000

_COMMON = (
    "a an the this that these those there here it its he she they them their we us our you your i me my am is are "
    "was were be been being has have had having does did doing done and or but nor so than then as of at by for "
    "from in into on onto to with within which who whom whose what when where why how s t d m re ve ll can could "
    "don doesn didn isn aren wasn weren won wouldn shouldn couldn hasn haven "  # codespell:ignore wasn,couldn
    "may might must shall should will would also just only very such same own too some any each both other more most"
)
STOP_WORDS = frozenset(_COMMON.split())

# First a quick, coarse split, whose pieces are remembered; a piece is read closely when it is met for the first time.
_ASCII_PIECES = "".join(one if (one := chr(code)).isalnum() or one == "_" else " " for code in range(128))
# What pieces are made of; this and the next two are for a regular expression's character class.
PIECE = "A-Za-z0-9_\u00c0-\u1fff\u2c00-\u2fff\u3040-\U0010ffff"
# What some scripts put on their letters.
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e"
_WORD = re.compile(f"(?:[^\\W_]|[{MARKS}])+")
_ASCII_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_CAPITALISED = re.compile(r"[A-Z][a-z]+")
_HEX = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}")
# Writing without spaces between words, and Korean.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)


@cache
def _characters(those: str) -> re.Pattern[str]:
    """Return the pattern of a run of characters, made when a text is met that is not ASCII: it takes 2 to 4 ms."""
    return re.compile(f"[{those}]+")


def terms(text: str) -> list[str]:
    """Return the terms of `text` in their order, repeated as often as they occur."""
    if text.isascii():
        pieces = text.translate(_ASCII_PIECES).split()  # two thirds of what a regular expression takes
    else:
        pieces = _characters(PIECE).findall(unicodedata.normalize("NFKC", text))
    return list(chain.from_iterable(map(_REMEMBERED.__getitem__, pieces)))


class _Memory(dict[str, tuple[str, ...]]):
    """The terms of each piece met so far; forgets all of them rather than grow without end."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        if _CAPITALISED.fullmatch(piece):  # which most pieces are that are not the same word met before
            found = self[piece.lower()]
        else:
            found = tuple(term for word in _WORD.findall(piece) for term in _terms_of_word(word))
        if len(piece) <= LONGEST_TERM:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[piece] = found
        return found


_REMEMBERED = _Memory()


def _terms_of_word(word: str) -> list[str]:
    if _HEX.fullmatch(word):
        return [word]
    parts = _ASCII_PART.findall(word) if word.isascii() else _parts(word)
    found = []
    for part in parts:
        if not part.isascii() and _characters(UNSPACED).match(part):
            found += [part[i : i + 2] for i in range(max(len(part) - 1, 1))]
            continue
        term = part.lower()[:LONGEST_TERM]
        if term not in STOP_WORDS:
            found.append(stem(term) if term.isascii() and term.isalpha() else term)
    return found


def _parts(word: str) -> list[str]:
    """Part a word where the script changes to or from one without spaces, and where an identifier's parts meet."""
    parts, start = [], 0
    for i in range(1, len(word) + 1):
        if i == len(word) or _meet(word, i):
            parts.append(word[start:i])
            start = i
    return parts


def _meet(word: str, i: int) -> bool:
    before, here = word[i - 1], word[i]
    is_unspaced = _characters(UNSPACED).match
    unspaced = bool(is_unspaced(here))
    if unspaced or is_unspaced(before):
        return unspaced != bool(is_unspaced(before))
    if before.isdigit() != here.isdigit():
        return True
    if here.isupper():
        return before.islower() or word[i + 1 : i + 2].islower()
    return False
