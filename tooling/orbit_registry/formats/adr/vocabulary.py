"""Words of decision documents in several languages, from `vocabulary.yaml`."""

import datetime
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

from orbit_registry.formats import yaml
from orbit_registry.formats.adr.model import Status
from orbit_registry.formats.dates import is_iso_date
from orbit_registry.formats.position import Span
from orbit_registry.formats.wording import plain


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _by_word(lists: Mapping[Any, str]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for name, words in lists.items():
        names.update(dict.fromkeys(map(plain, _words(words)), name))

    return names


VOCABULARY: Mapping[str, Any] = yaml.table_of(__file__, "vocabulary.yaml")
STATUS_OF: Mapping[str, Status] = _by_word(VOCABULARY["statuses"])
KEY_OF: Mapping[str, str] = _by_word(VOCABULARY["keys"])
MONTH_OF: Mapping[str, str] = _by_word(VOCABULARY["months"])
SECTION_OF: Mapping[str, str] = _by_word(VOCABULARY["sections"])


def word_set(name: str) -> frozenset[str]:
    """Return a list of the vocabulary as folded words."""
    return frozenset(plain(word) for word in _words(VOCABULARY[name]))


def word_forms(name: str) -> frozenset[str]:
    """Return a list of the vocabulary as people write its words: with accents, and without."""
    return frozenset(_words(VOCABULARY[name])) | word_set(name)


def choice(name: str) -> str:
    """Return a list of the vocabulary as alternatives of a regular expression."""
    return "|".join(VOCABULARY[name])


NO_STATUS_FOLDERS = word_set("folders_without_status")
NEGATIONS = word_set("negations")
_ENGLISH_STATUSES = word_set("english_statuses")


_AROUND_KEY = re.compile(r"^\W+|[^\w)]+$")
_OF_FORM = re.compile(r"(?i)^(?:adr|rfc|kep|tep|decision|proposal|current)[ ]")
"""What a key says of the form that it is in: `ADR Author`."""
_LONGEST_KEY = 80
_PAIR = 2  # words for a key, in two languages or of two roles


@lru_cache(maxsize=4096)
def field_of(key: str) -> str | None:
    """Return the field that a key states: `creation-date` and `creation_date` are the same, and so
    are `Author` and `Author(s)`; of `Status / 状态` the first word that names one counts.
    """
    if len(key) > _LONGEST_KEY:
        return None

    name = _AROUND_KEY.sub("", re.sub("[-_]", " ", key)).removesuffix("(s)")
    parts = re.split(r"\s*[/&]\s*", name)
    pair = parts if len(parts) == _PAIR else ()
    for part in (key.strip(), name, _OF_FORM.sub("", name), *pair):
        field = KEY_OF.get(plain(part))
        if field is not None:
            return field

    return None


PROMPTS: Mapping[str, str] = VOCABULARY["english"]
"""What a new decision asks, by the standard names of its sections."""
COST_PROMPT = PROMPTS["negative"].removeprefix("- ")


@dataclass(frozen=True, slots=True)
class Language:
    """The words for statuses in a language."""

    # words of its section headings that no other language has, in lower case
    headings: frozenset[str]
    statuses: Mapping[str, str]
    superseded_by: str  # words before the successor
    words: frozenset[str]  # its status words, all of them, in lower case
    keys: frozenset[str]  # names of the status key that few other languages have

    def status(self, status: str, raw: str) -> str:
        """Return a status, or `Superseded by X`, in this language;
        unchanged if the document's `raw` is English.
        """
        word = re.split(r"[^\w'-]", raw.strip("*_` "), maxsplit=1)[0]
        if raw and (word.lower() in _ENGLISH_STATUSES or plain(word) not in STATUS_OF):
            return status

        english, by, successor = status.partition(" by ")
        translated = self.superseded_by if by else self.statuses.get(english.lower(), "")
        if not translated or english.lower() not in _ENGLISH_STATUSES:
            return status

        translated = _feminine(translated) if word.lower().endswith(("a", "ée")) else translated
        cased = translated if raw[:1].islower() else translated[:1].upper() + translated[1:]
        if by:
            return f"{cased} {successor}"

        return cased


def _feminine(called: str) -> str:
    """Return a Romance participle in the feminine: `rechazada`, `rejetée par`."""
    word, space, remainder = called.partition(" ")
    if word.endswith("o"):
        word = f"{word[:-1]}a"
    elif word.endswith("é"):
        word = f"{word}e"

    return f"{word}{space}{remainder}"


@cache
def languages() -> tuple[Language, ...]:
    """Return the languages other than English."""
    return tuple(map(_language, VOCABULARY["languages"].values()))


def _language(data: Mapping[str, Any]) -> Language:
    statuses = data["statuses"]
    sets = {
        "headings": frozenset(_words(data["headings"])),
        "words": frozenset((*statuses.values(), *_words(data["words"]))),
        "keys": frozenset(_words(data.get("keys", ""))),
    }
    return Language(**{**data, **sets})


def language_of(headings: Iterable[str]) -> Language | None:
    """Return the language of most of the headings; None for English or an unknown one."""
    lower = [heading.strip().lower() for heading in headings]  # without accents it is English
    words = {*lower, *re.findall(r"[^\W\d_]+", "\n".join(lower))}
    scores = [(len(words & language.headings), language) for language in languages()]
    count, best = max(scores, key=lambda score: score[0])
    if count:
        return best

    return None


def language_of_status(raw: str, key: str, headings: Iterable[str]) -> Language | None:
    """Return the language of a status by its word, its key (`Estado`), the headings;
    None for English or in doubt.
    """
    first = re.split(r"[^\w'-]", raw.strip("*_`~ "), maxsplit=1)[0].lower()
    of_headings = language_of(headings)
    if not first or first in _ENGLISH_STATUSES:
        return of_headings

    candidates = [language for language in languages() if first in language.words]
    by_key = [
        language for language in candidates if key.strip("*_`:： \t-").lower() in language.keys
    ]

    if of_headings in candidates or not candidates:
        return of_headings

    return next((some[0] for some in (by_key, candidates) if len(some) == 1), None)


Order = Literal["day", "month"]  # which number comes first in a date

_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?![\w-])|\d{4}-\d\d-\d\d(?=T)")
_OF = r"(?:\.?[ ]?,?[ -](?:de |del |of )?)"
_DATES = tuple(
    re.compile(form)
    for form in (
        r"(?P<y>(?:19|20)\d\d)-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?![\w-])",
        r"(?P<y>(?:19|20)\d\d)[./年년][ ]?(?P<m>\d{1,2})[./月월][ ]?(?P<d>\d{1,2})(?![\w/])",
        r"(?P<y>(?:19|20)\d\d)[ ]?[年년][ ]?(?P<m>\d{1,2})[ ]?[月월][ ]?(?P<d>\d{1,2})[ ]?[日일]",
        r"(?P<y>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?!\w)",
        # no other order makes sense
        r"(?P<d>1[3-9]|2\d|3[01])[/-](?P<m>\d{1,2})[/-](?P<y>(?:19|20)\d\d)(?![\w/-])",
        r"(?P<m>\d{1,2})[/-](?P<d>1[3-9]|2\d|3[01])[/-](?P<y>(?:19|20)\d\d)(?![\w/-])",
        # either order says the same
        r"0?(?P<d>\d{1,2})[/-]0?(?P<m>(?P=d))[/-](?P<y>(?:19|20)\d\d)(?![\w/-])",
        r"(?P<d>\d{1,2})\.[ ]?(?P<m>\d{1,2})\.[ ]?(?P<y>(?:19|20)\d\d)(?!\w)",
        (
            rf"(?P<d>\d{{1,2}})(?:st|[nr]d|th|er|º)?{_OF}(?P<m>[^\W\d_]{{3,12}}){_OF}(?P<y>(?:"
            rf"19|20)"
            rf"\d\d|\d\d\Z)(?!\w)"
        ),
        r"(?P<y>(?:19|20)\d\d)-(?P<m>[^\W\d_]{3,12})-(?P<d>\d{1,2})(?![\w-])",
        r"(?P<m>[^\W\d_]{3,12})\.?[ ](?P<d>\d{1,2})(?:st|[nr]d|th)?,?[ ](?P<y>(?:19|20)\d\d)(?!\w)",
        rf"(?P<m>[^\W\d_]{{3,12}}){_OF}(?P<y>(?:19|20)\d\d)(?!\w)",
        r"(?P<y>(?:19|20)\d\d),?[ ](?P<m>[^\W\d_]{3,12})\.?[ ](?P<d>\d{1,2})(?:st|[nr]d|th)?\b",
    )
)

_TAG = re.compile(r"</?[a-z][^<>]{0,200}>")
_WEEKDAY = re.compile(r"\A[^\W\d_]{2,12}\.?,[ ]+(?=[^\W_])(?!\d{4}(?:\W*\Z))")
_SLASHED = re.compile(
    r"(?P<first>\d{1,2})[/-](?P<second>\d{1,2})[/-](?P<year>(?:19|20)\d\d)(?![\w/-])"
)
_ALL_FORMS = (_DATE, *_DATES, _SLASHED)
_STARTS_OF_DATES = re.compile(
    r"(?<![A-Za-z0-9./-])\d|(?<![^\W_])[^\W\d_](?=[^\W\d_]{2,11}\b.{0,5}\d)"
)
"""Where a date may begin: at a number, or at the name of a month."""
_MARKS = "*_`{}[]()<>\"' \t\r\n"  # characters around a date


def read_date(text: str, order: Order | None = None) -> str | None:
    """Return the ISO date, or month, at the start of a text;
    `03/04/2026` needs an `order`, `17/04/2026` does not.
    """
    words = _TAG.sub("", text) if "<" in text else text
    bare = _WEEKDAY.sub("", words.strip(_MARKS))
    if (parsed := _read(bare)) is not None:
        return parsed

    slashed = _SLASHED.match(bare) if order is not None else None
    if slashed is None:
        return None

    month, day = ("second", "first") if order == "day" else ("first", "second")
    iso = f"{slashed['year']}-{slashed[month]:0>2}-{slashed[day]:0>2}"
    if is_iso_date(iso):
        return iso

    return None


def is_of_two_orders(text: str) -> bool:
    """Say whether a text begins with a date whose day and month can be swapped."""
    return (
        read_date(text) is None
        and read_date(text, "day") is not None
        and read_date(text, "month") is not None
    )


def find_date(text: str, span: Span) -> Span | None:
    """Return where the first date of a text is, in any form; also one of two orders."""
    for start in _STARTS_OF_DATES.finditer(text, span.start, span.end):
        matches = (form.match(text, start.start(), span.end) for form in _ALL_FORMS)
        match = next(filter(None, matches), None)
        if match is None or match[0].isdigit():  # `20240111-use-x` is the name of a decision
            continue

        is_date = read_date(match[0]) is not None or is_of_two_orders(match[0])
        if is_date:
            return Span(*match.span())

    return None


def date_orders(dates: Iterable[tuple[str, str]]) -> Mapping[str, Order]:
    """Return the order of dates in each folder that agrees on one,
    from pairs of folder and date.
    """
    orders: dict[str, set[Order]] = {}
    for folder, date in dates:
        slashed = _SLASHED.match(date.strip(_MARKS))
        if (
            slashed is not None
            and read_date(date)
            and int(slashed["first"]) != int(slashed["second"])
        ):
            orders.setdefault(folder, set()).add("day" if int(slashed["first"]) > 12 else "month")

    return {
        folder: next(iter(folder_orders))
        for folder, folder_orders in orders.items()
        if len(folder_orders) == 1
    }


def _read(text: str) -> str | None:
    if match := _DATE.match(text):
        if is_iso_date(match.group()):
            return match.group()

        return None

    parts = next((match.groupdict() for form in _DATES if (match := form.match(text))), None)
    if parts is None:
        return None

    month = parts["m"] if parts["m"].isdigit() else MONTH_OF.get(plain(parts["m"]), "")
    year = f"20{parts['y']}"[-4:]
    if len(parts["y"]) == 2 and int(year) > datetime.datetime.now(datetime.UTC).year:
        return None  # `15 March 99` and `12 Aug 30` state no year of this century

    iso = "-".join(part.zfill(2) for part in (year, month, parts.get("d") or "") if part)
    if month and is_iso_date(iso):
        return iso

    return None
