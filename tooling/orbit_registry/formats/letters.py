"""Letters as a person sees them: without invisible characters, and without look-alikes."""

import re
import unicodedata
from functools import lru_cache

UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Invisible characters: soft hyphens, zero-width ones, direction marks, variation selectors; the
ranges of Unicode's property `Default_Ignorable_Code_Point`.
"""
_DROPPED = re.compile(f"[{UNSEEN}]+")
# Letters of Cyrillic, Greek and Armenian that look like a Latin one: a part of Unicode's
# confusables.txt.
_LOOK_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανυρικχօսոհցԼ",
    "ABESIJKMHOPCTYXaesijopcyxhdqwABEZHIKMNOPTYXoavupikxounhgL",
)
_SIGNS = str.maketrans("\u00b4\u02bc\u2032\u2010\u2011\u2212", "'''---")
"""Signs that people take for an apostrophe, a hyphen or a minus."""
_SMALL_CAPITALS = str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɑɡɩ", "abcdefghijklmnoprstuvwyzagi")
"""Letters of phonetic writing, which people read as the common ones."""
_TAKEN_FOR = {**_SIGNS, **_SMALL_CAPITALS}
_IS_TAKEN_FOR = re.compile(f"[{''.join(map(chr, _TAKEN_FOR))}]+")
_LOOKS_LATIN = re.compile(f"[{''.join(map(chr, _LOOK_ALIKE))}]")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z]")


@lru_cache(maxsize=8)  # a text is compared by its words, then by its signs
def as_seen(text: str) -> str:
    """Return a text in NFKC form without invisible characters; in a word that has letters of Latin
    and of another script, each look-alike is the Latin letter.
    """
    if text.isascii():
        return text

    # To translate a whole text looks up each of its letters: that takes ten times as long.
    common = _IS_TAKEN_FOR.sub(lambda match: match[0].translate(_TAKEN_FOR), text)
    visible = _DROPPED.sub("", unicodedata.normalize("NFKC", common))
    if not _LOOKS_LATIN.search(visible):  # few texts have one, and each word costs a call
        return visible

    return _WORD.sub(_in_latin, visible)


def _in_latin(match: re.Match[str]) -> str:
    word = match[0]
    is_mixed = not word.isascii() and _LATIN.search(word)
    if is_mixed:
        return word.translate(_LOOK_ALIKE)

    return word
