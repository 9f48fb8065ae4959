"""Words of a text, which records are found by.

They are split alike where records are indexed and where a prompt is read.
Identifiers come apart (`parseHTTPHeader`, `parse_http_header` and `parse-http-header` are all
parse, http, header), letters and digits are parted, common words are left out, and accents count
nothing (`déjà` is `deja`). Writing without
spaces between words (Chinese, Japanese, Thai) gives pairs of neighbouring characters, and so does
Korean. The hook reads prompts with it: no regular expressions.
"""

from itertools import chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_WORD = 64

_COMMON = (
    "a an the this that these those there here it its he she they them their we us our you your i "
    "me my am is are was were be been being has have had having does did doing done and or but nor "
    "so than then as of at by for from in into on onto to with within which who whom whose what "
    "when where why how s t d m re ve ll can could don doesn didn isn aren weren won wouldn "
    "shouldn hasn haven "
    "wasn couldn "  # codespell:ignore wasn,couldn
    "may might must shall should will would also just only very such same own too some any each "
    "both other more most"
)
STOP_WORDS = frozenset(_COMMON.split())

ASCII_PIECES = "".join(
    sign if sign.isalnum() or sign == "_" else " " for sign in map(chr, range(128))
)
"""What translates an ASCII text into pieces with spaces between them."""
# What pieces are made of; these three are for a regular expression's character class.
PIECE = "A-Za-z0-9_\u00c0-\u1fff\u2c00-\u2fff\u3040-\U0010ffff"
# What some scripts put on their letters.
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e"
# Writing without spaces between words, and Korean.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)
_HEX = frozenset("0123456789abcdef")
ACCENTS = "\u0300", "\u036f"
"""The first and the last of the marks that no word is found by."""
SPELT = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ı": "i"}
"""Letters that come apart only by hand."""


def _ranges(characters: str) -> list[tuple[str, str]]:
    """Return the ranges of a regular expression's character class."""
    return [
        (characters[at], characters[at + 2])
        for at in range(0, len(characters) - 2)
        if characters[at + 1] == "-"
    ]


_PIECE, _MARKS, _UNSPACED = _ranges(PIECE), _ranges(MARKS), _ranges(UNSPACED)


def _is_in(ranges: list[tuple[str, str]], character: str) -> bool:
    return any(first <= character <= last for first, last in ranges)


def words(text: str, whole: bool = False) -> list[str]:
    """Return the words of a text in their order.

    `whole`: an identifier keeps its common words, so that `MySQL` is not `SQL`.
    `search.text.words` gives the others, faster where texts are many.
    """
    if text.isascii():
        pieces = text.translate(ASCII_PIECES).split()
    else:
        from unicodedata import normalize  # most prompts do without

        text = normalize("NFKC", text)
        pieces_of = {character: _in_piece(character) for character in set(text)}
        pieces = "".join(map(pieces_of.__getitem__, text)).split()

    return [*chain.from_iterable([words_of(piece, whole) for piece in pieces])]


def _in_piece(character: str) -> str:
    """Return a character of a piece; a space for one that parts words."""
    if character.isascii():
        return ASCII_PIECES[ord(character)]
    if _is_in(_PIECE, character) and (character.isalnum() or _is_in(_MARKS, character)):
        return character
    return " "


def words_of(piece: str, whole: bool = False) -> list[str]:
    """Return the words of a run of letters, digits, marks and underscores."""
    if piece.isascii() and piece.isalpha() and (piece.islower() or piece[1:].islower()):
        lower = piece[:LONGEST_WORD].lower()  # most pieces are one plain word
        if lower in STOP_WORDS:
            return []

        return [lower]

    parts = [part for part in piece.split("_") if part]
    every = [*chain.from_iterable([split_word(part, frozenset()) for part in parts])]
    if whole and len(every) > 1:
        return every

    return [word for word in every if word not in STOP_WORDS]


def split_word(word: str, common: "frozenset[str]" = STOP_WORDS) -> list[str]:
    """Return the words of letters, digits and marks without underscores, but for common ones."""
    if 7 <= len(word) <= 64 and _HEX.issuperset(word) and not word.isdigit() and not word.isalpha():
        return [word]

    result = []
    parts = _ascii_parts(word) if word.isascii() else _parts(word)
    for part in parts:
        if _is_in(_UNSPACED, part[0]):
            result += [part[at : at + 2] for at in range(max(len(part) - 1, 1))]
            continue

        lower = folded(part.lower())[:LONGEST_WORD]
        if lower and lower not in common:
            result.append(lower)

    return result


def split_name(piece: str) -> list[str]:
    """Return all parts of an identifier in ASCII, common words too."""
    parts = [part for part in piece.split("_") if part]
    return [*chain.from_iterable(map(_ascii_parts, parts))]


def folded(word: str) -> str:
    """Return a word in lower case without accents: `déjà` is `deja`."""
    if word.isascii():
        return word

    from unicodedata import normalize

    return "".join([_unaccented(letter, normalize("NFD", letter)) for letter in word])


def _unaccented(letter: str, parts: str) -> str:
    """Return a letter without its accents; one with other marks stays."""
    first, last = ACCENTS
    letters = [part for part in parts if not first <= part <= last]
    if len(letters) > 1:
        return letter

    return "".join([SPELT.get(part, part) for part in letters])


def _ascii_parts(word: str) -> list[str]:
    """Part an identifier: `HTTPServer2` is HTTP, Server, 2.

    A plural's s stays with its capitals (`IDs`).
    """
    parts = []
    start = 0
    while start < len(word):
        end = _run(word, start, str.isdigit) or _run(word, start, str.islower)
        if not end:
            end = _run(word, start, str.isupper)
            is_one_letter = end - start == 1
            is_plural = word[end : end + 1] == "s" and not word[end + 1 : end + 2].islower()
            if is_plural and not is_one_letter:
                end += 1
            elif is_one_letter and word[end : end + 1].islower():
                end = _run(word, end, str.islower)
            elif word[end : end + 1].islower():
                end -= 1

        parts.append(word[start:end])
        start = end

    return parts


def _run(word: str, start: int, is_alike: "Callable[[str], bool]") -> int:
    """Return where a run of like characters ends; 0 where none begins."""
    end = start
    while end < len(word) and is_alike(word[end]):
        end += 1

    if end > start:
        return end

    return 0


def _parts(word: str) -> list[str]:
    """Part a word like an identifier, and where a script without spaces begins or ends."""
    parts = []
    start = 0
    for end in range(1, len(word) + 1):
        if end == len(word) or _meet(word, end):
            parts.append(word[start:end])
            start = end

    return parts


def _meet(word: str, i: int) -> bool:
    before, here = word[i - 1], word[i]
    unspaced, was_unspaced = _is_in(_UNSPACED, here), _is_in(_UNSPACED, before)
    if unspaced or was_unspaced:
        return unspaced != was_unspaced
    if before.isdigit() != here.isdigit():
        return True
    if here.isupper():
        return before.islower() or word[i + 1 : i + 2].islower()

    return False
