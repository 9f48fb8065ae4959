"""Words of a text as a reader compares them: without form, with the negations, numbers and order
that change what it says.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from orbit_registry.errors import listed
from orbit_registry.formats.letters import as_seen

# What some scripts put on their letters, as `hook.words` has it, which imports no other room.
MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e"
_PUNCTUATION = re.compile(f"[^\\w{MARKS}]+")
_SIGNED = re.compile(r"(?<!\w)([a-z])(\+\+|\#(?!\w))")  # names that a sign tells apart
_ID = r"(?:[a-z0-9-]+:)?(?:ADR-[0-9]{4,6}|[A-Z]{1,3}-[0-9a-hjkmnp-tv-z]{5})"
_CITED = rf"[(\[](?:(?:see|from)[ \t]+)?{_ID}(?:,[ \t]*{_ID})*[)\]]"
_HAS_CITATION = re.compile(_CITED)
_CITATION = re.compile(rf"(?<![ \t])[ \t]*{_CITED}")


_SMALL = (
    "a an and are as at be been before by for from has have in into is it its of on or our so than "
    "that the their them then they this to was we when which while with you your"
)
SMALL_WORDS = frozenset(_SMALL.split())
"""Words that tell no title from another, whatever it is about."""

_ACCENTS = re.compile(r"[\u0300-\u036f]")


def plain(text: str) -> str:
    """Return a text in lower case without accents, so that `Décision` and `DECISION` are equal."""
    lower = text.lower()
    if lower.isascii():
        return lower

    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", lower)))


def without_citations(text: str) -> str:
    """Return a text without the records that it cites in brackets: ` (L-7k3fq, ADR-0007)`."""
    # Few texts have one, and a search that begins with blanks stops at each of them.
    if _HAS_CITATION.search(text):
        return _CITATION.sub("", text)

    return text


@lru_cache(maxsize=4096)  # two checks ask about the same texts
def normalised(text: str) -> str:
    """Return a text without differences of case, punctuation and white space."""
    plain = as_seen(text).casefold()
    spelled = _SIGNED.sub(_spelled, plain).replace("_", " ")
    return _PUNCTUATION.sub(" ", spelled).strip()


_ELEMENTS = (
    "a abbr b big blockquote br center code del details div em font h[1-6] hr i img ins kbd li "
    "mark ol p pre q s samp small span strike strong sub summary sup table tbody td th thead tr "
    "tt u ul"
)
_TAG = re.compile(
    rf"<(?P<end>/?)(?P<name>{'|'.join(_ELEMENTS.split())})(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_HTML_COMMENT = re.compile(r"<!--.*?(-->|\Z)", re.DOTALL)
"""A comment, or what follows the start of one without an end: that is read once, and stays."""
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s[^()]*)?\)|\[[^\[\]]*\])")
_MARKS = re.compile(r"\\(?=[!-/:-@\[-`{-~])|\\\n|[*`]+|~~")
_GROUPED = re.compile(r"(?<=\d)[,'’\u00a0\u202f](?=\d{3}(?!\d))")
"""What parts a number into thousands: `1,000`."""
_LETTERS = re.compile(r"[^\W\d_]+")


def without_comments(text: str) -> str:
    """Return a text without its comments of HTML."""
    return _HTML_COMMENT.sub(lambda match: "" if match[1] else match[0], text)


def without_markup(text: str) -> str:
    """Return a text as Markdown shows it: without comments, tags, addresses of links and marks."""
    visible = _TAG.sub("", without_comments(text)) if "<" in text else text
    linked = _LINK.sub(r"\1", visible) if "[" in visible else visible
    return html.unescape(_MARKS.sub("", linked))


def _with_lone_tags(text: str) -> str:
    """Return a text in which tags without a counterpart are words: titles can be about `<p>`."""
    opened: set[str] = set()
    closed: set[str] = set()
    for tag in _TAG.finditer(text):
        names = closed if tag["end"] else opened
        names.add(tag["name"].casefold())

    words = (opened ^ closed) - {"br"}
    return _TAG.sub(lambda tag: tag["name"] if tag["name"].casefold() in words else tag[0], text)


def as_compared(text: str) -> str:
    """Return a text without markup and citations in brackets, and with its numbers in digits."""
    tagged = _with_lone_tags(without_citations(text))
    plain_text = _GROUPED.sub("", as_seen(without_markup(tagged)))
    return _LETTERS.sub(lambda word: _NUMBERS.get(word[0].casefold(), word[0]), plain_text)


_SIGNS = re.compile(
    r"(?<![\w)\]])(?:-{1,2}(?=\w)|[+./@~$€£](?=\w))|[<>=≤≥≠±&|€$£%]+|[\u2600-\u27bf\U0001f300-\U0001faff]"
)


@lru_cache(maxsize=4096)
def signs_of(text: str) -> tuple[str, ...]:
    """Return the signs that tell texts of the same words apart, in order: `-1`, `.env`."""
    return tuple(_SIGNS.findall(as_seen(text)))


def _spelled(match: re.Match[str]) -> str:
    if match[2] == "++":
        return f"{match[1]}plus"

    return f"{match[1]}sharp"


_WORD = re.compile(
    r"[a-z](?:\+\+|\#(?!\w))|\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+|\d+)?",
)
"""A word, a number, or a name with its sign or digits: `C++`, `C#`, `S3`."""
_DENYING = (
    "not no never none nothing nobody neither nor without "  # codespell:ignore nobody
    "cannot nowhere nicht nichts nie niemals niemand "
    "kein keine keinem keinen keiner keines ohne weder "
    "ne pas jamais aucun aucune nunca jamás ningún ninguna non nessun nessuna não nenhum nenhuma "
    "niet nooit geen"
)
NEGATIONS = frozenset(_DENYING.split())
_AUXILIARIES = (
    "all always any ever immer do does did is are be was were can must should shall will would "
    "may might has have had it with mit"
)
SUPPORT = frozenset(_AUXILIARIES.split())
"""Words that come and go with a negation: `retry`, `do not retry`."""
_REFUSING_WORDS = (
    "avoid ban deny disable disallow drop forbid prohibit refuse reject stop "
    "deaktiviere verbiete verbieten vermeide vermeiden"
)
_REFUSING = frozenset(_REFUSING_WORDS.split())
"""Verbs that deny what follows them, at the start of a sentence."""
_AFFIRMING_WORDS = (
    "accept adopt aktiviere allow enable erlaube erlauben introduce keep permit require support"
)
AFFIRMING = frozenset(_AFFIRMING_WORDS.split())
"""Verbs that a refusing one takes the place of: `enable caches`, `disable caches`."""
_BEFORE_A_VERB = frozenset(("always", "please", "we", "wir"))
_ANTONYM_WORDS = (
    "allowed/forbidden, ascending/descending, centralised/decentralised, enabled/disabled, "
    "include/exclude, least/most, increase raise/decrease lower, lock/unlock, "
    "mandatory required/optional, manual/automatic, manually/automatically, maximum/minimum, "
    "public/private, "
    "synchronous/asynchronous, synchronously/asynchronously, erhöhe/senke, öffentlich/privat"
)
ANTONYMS = [pair.split("/") for pair in _ANTONYM_WORDS.split(", ")]
"""Words of which a sentence has one and its opposite the other."""
_SHORTENED = re.compile(r"(.*)n['’]t")
_LISTED = 4
LONGEST_SENTENCE = 40
"""Texts of up to so many distinct words differ by a moved negation too: `tabs, not spaces`."""
_NUMBER_WORDS = (
    "2 two zwei 3 three drei 4 four vier 5 five fünf 6 six sechs 7 seven sieben "
    "8 eight acht 9 nine neun 10 ten zehn 11 eleven elf 12 twelve zwölf 15 fifteen fünfzehn "
    "20 twenty zwanzig 30 thirty dreissig 40 forty vierzig 50 fifty fünfzig 60 sixty sechzig "
    "90 ninety neunzig 100 hundred hundert 1000 thousand tausend"
)
"""Numbers, each before its words; `one` counts nothing in `one of them`."""


def _numbers() -> dict[str, str]:
    numbers: dict[str, str] = {}
    number = ""
    for word in _NUMBER_WORDS.split():
        if word.isdigit():
            number = word
        else:
            numbers[word] = number

    return numbers


_NUMBERS = _numbers()
_CHOOSING_WORDS = (
    "a after ahead always an anstatt anstelle anziché au auf before build but by change che "
    "choose con convert de deploy di door durch em en ersetze ersetzen ersetzt execute for from "
    "gegen i im in instead into invece keep lieu load lugar make migrate move nach nicht nimm "
    "nutze of on only our over par para per pick plaats place plutôt por port pour prefer put que "
    "rather reemplazar remplacer replace replaced replaces run should sondern sostituire start "
    "statt substituir substitute sustituir swap switch take than that the to usar usare use uses "
    "using utiliser van vervang verwenden vez vom von vor we wechsle with write zu zum zur"
)
CHOOSING = frozenset(_CHOOSING_WORDS.split())
"""Words that say which of two is chosen, and those around them."""
_NO_VERB = "".join(rf"(?<!\b{word} )" for word in sorted(SUPPORT))
"""Of `tests must not run` it is the verb that is denied."""
_INSTEAD = (
    "instead of|rather than|statt|anstatt|anstelle von|plutôt que|au lieu de|en lugar de|en vez de"
    "|invece di|invece che|anziché|em vez de|em lugar de|in plaats van"
)
_ORDERS = [
    re.compile(pattern)
    for pattern in (
        rf"\A(?:{_INSTEAD}) (?P<refused>.+?) "
        r"(?:use|take|choose|prefer|nutze|nimm|we|utiliser|usar|usare) (?P<preferred>.+)",
        r"\b(?:replace|substitute|swap|ersetze|ersetzen|remplacer|reemplazar|sustituir|sostituire"
        r"|substituir|vervang) (?P<refused>.+?) "
        r"(?:with|by|for|durch|gegen|par|por|con|door) (?P<preferred>.+)",
        r"\b(?:from|vom|von) (?P<refused>.+?) (?:to|into|zu|zum|zur|auf|nach) (?P<preferred>.+)",
        r"\b(?:not|nicht) (?!only|nur)(?P<refused>.+?) (?:but|sondern) (?P<preferred>.+)",
        rf"\A(?P<preferred>.+?) (?:{_INSTEAD}|in place of|ahead of|over|before|replaces|vor|ersetzt"
        rf"|{_NO_VERB}(?:not|nicht)) (?P<refused>.+)",
        r"\A(?P<refused>.+?) (?:after|nach|replaced by|ersetzt durch) (?P<preferred>.+)",
    )
]
"""Sentences that put one thing before another: `tabs over spaces`, `replace Redis with Kafka`."""
_ROOTS = {"ca": "can", "wo": "will", "sha": "shall"}


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text, cut once for all texts that it is compared with."""

    counts: Counter[str]
    negated: Counter[str]  # each negation with the word after it
    preferred: frozenset[str] = frozenset()  # what a short text puts before `refused`
    refused: frozenset[str] = frozenset()
    refusal: str = ""  # the verb by which a short text denies the rest
    units: frozenset[str] = frozenset()  # what numbers of a short text count
    denied: frozenset[str] = frozenset()  # what a short text denies

    @classmethod
    def of(cls, text: str) -> Words:
        """Return the words of a text."""
        words = _words(text)
        negated = Counter[str]()
        for word, after in pairwise(words):
            if word in NEGATIONS and not is_mark(after):
                negated[f"{word} {after}"] += 1

        counts = Counter(words)
        if len(counts) > LONGEST_SENTENCE:
            return cls(counts, negated)

        refusal = _refusal_in(words)
        units = frozenset(after for word, after in pairwise(words) if word.isdigit())
        denied = frozenset(_denied_in(words, refusal))
        order = _order_in(words)
        preferred = refused = frozenset[str]()
        if order is not None:
            first, second = (_telling(order[side]) for side in ("preferred", "refused"))
            # What a sentence names on both sides is put before nothing.
            preferred, refused = first - second, second - first

        return cls(counts, negated, preferred, refused, refusal, units, denied)

    def is_mark(self, word: str) -> bool:
        """Say whether one of the words tells the text from others that have the same topic."""
        return self.is_denial(word) or is_mark(word)

    def is_denial(self, word: str) -> bool:
        """Say whether one of the words denies what the others say."""
        return word in NEGATIONS or word == self.refusal

    @property
    def denies(self) -> bool:
        """Whether the text denies something."""
        return any(map(self.is_denial, self.counts))


def _refusal_in(words: Sequence[str]) -> str:
    verb = next((word for word in words if word not in _BEFORE_A_VERB), "")
    if verb in _REFUSING:
        return verb

    return ""


def _denied_in(words: Sequence[str], refusal: str) -> Iterator[str]:
    """Yield what denials deny, without the words around it: `browser` of `has no browser`."""
    is_denied = False
    for word in words:
        if word in NEGATIONS or word == refusal:
            is_denied = True
        elif is_denied and word not in CHOOSING | SUPPORT | AFFIRMING:
            yield word
            is_denied = False


def _order_in(words: Sequence[str]) -> re.Match[str] | None:
    sentence = " ".join(words)
    matches = (pattern.search(sentence) for pattern in _ORDERS)
    return next(filter(None, matches), None)


def _telling(words: str) -> frozenset[str]:
    return frozenset(words.split()) - CHOOSING - SUPPORT - NEGATIONS


def _words(text: str) -> list[str]:
    """Return the words of a text, shortened negations in full: `can't` is `can not`."""
    words = []
    for word in _WORD.findall(as_seen(text).casefold()):
        shortened = _SHORTENED.fullmatch(word)
        if shortened is not None:
            words += [_ROOTS.get(shortened[1], shortened[1]), "not"]
        elif word == "cannot":
            words += ["can", "not"]
        else:
            words.append(_NUMBERS.get(word, word))

    return words


def is_mark(word: str) -> bool:
    """Say whether a word is a negation, a number, or a name that its sign or number tells apart."""
    return word in NEGATIONS or not word.replace("'", "").replace("’", "").isalpha()


def quoted(words: Sequence[str]) -> str:
    """Return the first few words, quoted: two long texts may differ in a hundred numbers."""
    return listed([f"`{word}`" for word in words], _LISTED)
