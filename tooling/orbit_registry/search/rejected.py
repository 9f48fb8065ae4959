"""Names of rejected options as the push index holds them:
the words by which a prompt or an import names one.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import NamedTuple

from orbit_registry.formats import yaml
from orbit_registry.formats.adr.rejected_option import RejectedOption
from orbit_registry.formats.untrusted import cut, inert_line
from orbit_registry.formats.wording import normalised
from orbit_registry.hook.rejected_options import forms_of, is_meant
from orbit_registry.hook.words import words
from orbit_registry.model.fields import EXACT, PHRASES
from orbit_registry.model.record import Record
from orbit_registry.search.text import stem

LONGEST_PHRASE = 6  # words of a name; people shorten a longer one
LONGEST_NAME = 3  # words of a name that repositories are compared by
SURE_LENGTH = (
    2  # words of more than two letters that make a name of common words one that a prompt can mean
)
LONGEST_REASON = 200
_COMMON_SHARE, _COMMON_COUNT = 0.1, 5
"""Share and number of the collection's records that have a word which counts as common there."""
_LEAD = re.compile(
    r"^(?:(?:we|would|to|just|simply|only|fully|directly|continue|an?|the|our|own|existing|use"
    r"|using|adopt|adopting|"
    r"keep|keeping|stay|stick|with|on|go(?=[ "
    r"]+(?:with|on|for)\b)|for|move|moving|migrate|migrating|switch|switching|"
    r"introduce|introducing|add|adding|build|building|write|writing|integrate|integrating"
    r"|implement|implementing|create|"
    r"creating|upgrade|based|pick|choose|take|prefer)[ ]+)+(?=\S)",
    re.IGNORECASE,
)
_OPPOSITE = re.compile(
    r"(?:do(?:es)?[ ]?n['’o]t|do "
    r"not|don.t|not|no|none|nothing|never|without|skip|drop|remove|avoid|do nothing|leave|"
    r"status "
    r"quo|disable|stop|delete|ignore|neither|both|other|nichts|keine?|rien|aucun|ninguno|nada)\b",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"[ ]*\(([^()]*)\)")
_PARTS = re.compile(r"[ ]+(?:/|or|oder|ou|vs\.?)[ ]+")
_EXAMPLES = re.compile(
    r"[,:;]|\b(?:e\.?g|i\.?e|see|status quo|current|today|no|not|as|like|such)\b", re.IGNORECASE
)
_INSTEAD = re.compile(
    r"\b(?:instead of|rather than|over|not?|without|no "
    r"longer|avoid|drop|remove|replac\w+|reject\w*)\b",
    re.I,
)
_REPLACE = re.compile(
    r"\b(?:replac(?:e|es|ed|ing)|(?:migrat|switch|mov)(?:e|es|ed|ing|ch|ching)?\s+from)\b"
    r"[^.\n]{1,80}?\b(?:with|by|to)\s+(?=\S)",
    re.IGNORECASE,
)


class _Decision(NamedTuple):
    """A live decision: when it was made, and the words of what it accepted,
    with spaces around them.
    """

    order: tuple[str, str]
    path: str
    accepted: Sequence[str]


IsCommon = Callable[[str], bool]
Taken = Callable[[Sequence[Record]], Mapping[str, Sequence[str]]]


def taken_by(record: Record) -> tuple[str, ...]:
    """Return what a decision takes, as words with spaces around them: its title and its choice."""
    # The reader of options takes 30 ms to import, and most calls find what was read before.
    from orbit_registry.formats.adr.options import chosen_option

    title, chosen = accepted_part(record.title), chosen_option(record.prose)
    forms = (title, title.lower(), chosen, chosen.lower())
    return tuple(f" {' '.join(words(form, whole=True))} " for form in forms)


def taken_by_each(records: Sequence[Record]) -> Mapping[str, Sequence[str]]:
    """Return what each decision takes, by its path."""
    return {record.path: taken_by(record) for record in records}


def rejected_rows(
    records: Iterable[Record],
    count_of: Callable[[str], int],
    taken: Taken = taken_by_each,
) -> dict[str, tuple[str, ...]]:
    """Return rejected options of live decisions as rows of the index;
    `count_of`: how many records have a word.
    """
    rows: dict[str, tuple[str, ...]] = {}
    for record, options in _options_of(records, count_of, taken):
        rows[record.path] = tuple(
            PHRASES.join((*phrases, _line(option))) for option, phrases in options
        )

    return rows


def ruled_out(
    records: Sequence[Record], names: Sequence[str]
) -> Iterator[tuple[int, Record, RejectedOption]]:
    """Yield the packages, by their places in `names`, that live decisions rejected as options.

    Each with every decision and its first option that the name means. The records have their prose.
    """
    forms = [forms_of(name) for name in names]
    for record, options in _options_of(records, partial(_count, records), taken_by_each):
        for number, (whole, joined, _) in enumerate(forms):
            for option, phrases in options:
                if any(is_meant(phrase, joined, whole) for phrase in phrases):
                    yield number, record, option
                    break


def option_names(option: str) -> set[str]:
    """Return the names of an option; `names_used` has them of a decision that takes it."""
    phrases = [words(normalised(name)) for name, _ in _names(option)]
    return {" ".join(phrase) for phrase in phrases if _is_telling(phrase)}


def names_used(title: str, chosen: str) -> set[str]:
    """Return the possible names of what a decision takes: runs of words of its title and of
    its chosen option.
    """
    names = set()
    for sentence in (title, chosen):
        phrase = words(normalised(accepted_part(sentence)))
        for length in range(1, LONGEST_NAME + 1):
            for start in range(len(phrase) - length + 1):
                part = phrase[start : start + length]
                if _is_telling(part):
                    names.add(" ".join(part))

    return names


def _is_telling(phrase: Sequence[str]) -> bool:
    if not 0 < len(phrase) <= LONGEST_NAME:
        return False

    return any(len(word) > 1 and not is_common_word(word) for word in phrase)


def _count(records: Iterable[Record], word: str) -> int:
    """Return how many records have a word."""
    pattern = re.compile(rf"(?<![a-z]){re.escape(word)}(?![a-z])", re.IGNORECASE)
    return sum(
        pattern.search(record.title) is not None or pattern.search(record.prose) is not None
        for record in records
    )


_Options = Sequence[tuple[RejectedOption, Sequence[str]]]


def _options_of(
    records: Iterable[Record], count_of: Callable[[str], int], taken: Taken
) -> Iterator[tuple[Record, _Options]]:
    """Yield the live decisions with their rejected options, each with the phrases that name it."""
    live = [record for record in records if record.phase == "live"]
    with_options = [record for record in live if record.rejected]
    if not with_options:
        return

    in_documents = [record for record in live if record.kind.in_document]
    accepted = taken(in_documents)
    by_word = _by_word(
        _Decision(_order(record), record.path, accepted[record.path]) for record in in_documents
    )

    most = max(_COMMON_COUNT, _COMMON_SHARE * len(live))

    @cache
    def is_common(word: str) -> bool:
        return len(word) < 3 or word.isdigit() or is_common_word(word) or count_of(word) >= most

    for record in with_options:
        yield record, list(_named_options(record, by_word, is_common))


def _order(record: Record) -> tuple[str, str]:
    return record.text("date") or "", record.id


def _by_word(decisions: Iterable[_Decision]) -> Mapping[str, Sequence[_Decision]]:
    """Return the decisions by each word of what they accepted."""
    by_word: defaultdict[str, list[_Decision]] = defaultdict(list)
    for decision in decisions:
        for word in set(" ".join(decision.accepted).split()):
            by_word[word].append(decision)

    return by_word


def _named_options(
    record: Record, by_word: Mapping[str, Sequence[_Decision]], is_common: IsCommon
) -> Iterator[tuple[RejectedOption, Sequence[str]]]:
    for option in record.rejected:
        phrases: list[str] = []
        for phrase in dict.fromkeys(_phrases(option, is_common)):
            name = phrase.lstrip(EXACT)
            if name and not _is_accepted(name, record, by_word):
                phrases.append(phrase)

        if phrases:
            yield option, phrases


def _is_accepted(name: str, record: Record, by_word: Mapping[str, Sequence[_Decision]]) -> bool:
    """Say whether the record itself, or a decision after it, accepted what has a name."""
    # Few decisions have the rarest word of a name, and each that accepted it has all of them.
    candidates = min((by_word.get(word, ()) for word in name.split()), key=len)
    order = _order(record)
    for decision in candidates:
        is_later = decision.order > order or not all(decision.order)
        counts = is_later or decision.path == record.path
        if counts and any(f" {name} " in text for text in decision.accepted):
            return True

    return False


def _line(option: RejectedOption) -> str:
    reason = cut(inert_line(option.reason), LONGEST_REASON)
    name = inert_line(option.option)
    if reason:
        return f"{name}: {reason}"

    return name


def _phrases(option: RejectedOption, is_common: IsCommon) -> Iterator[str]:
    """Yield the words of each name that an option has: those that a person states, else those in
    the words for the option. `EXACT` is ahead of one that only an import can name.
    """
    for name in option.names:
        for form in (name, name.lower()):
            yield " ".join(words(form, whole=True))

    for part, is_whole in _names(option.option) if not option.names else ():
        for form in (part, part.lower()):
            phrase = words(form, whole=True)
            if not 0 < len(phrase) <= LONGEST_PHRASE:
                continue

            plain = words(form.lower(), whole=True)
            is_sure = is_whole and sum(len(word) > 2 for word in plain) >= SURE_LENGTH
            is_name = is_sure or not all(map(is_common, plain))
            yield ("" if is_name else EXACT) + " ".join(phrase)

            if len(phrase) > 1:
                yield EXACT + "".join(phrase)
            if is_name and len(phrase) > 1 and phrase[-1] in ("js", "py", "rs"):
                yield ("" if not is_common(phrase[0]) else EXACT) + " ".join(phrase[:-1])


def _names(name: str) -> Iterator[tuple[str, bool]]:
    """Yield an option's names (without brackets, a short one in them, each of `A or B`),
    and if it is whole.
    """
    bare = _BRACKET.sub("", name).strip() or name
    inside = [
        text
        for text in _BRACKET.findall(name)
        if len(text.split()) <= 3 and not _EXAMPLES.search(text)
    ]
    for text in (bare, *inside):
        parts = _PARTS.split(text)
        for part in parts:
            if not _OPPOSITE.match(part):
                yield _LEAD.sub("", part, count=1), text is bare and len(parts) == 1


def accepted_part(sentence: str) -> str:
    """Return what a sentence takes, without what it takes it instead of: `Use A` of `Use A over B`.

    Of `Replace B with A` it is `A`.
    """
    replaced = _REPLACE.search(sentence)
    if replaced is not None:
        return sentence[replaced.end() :]

    return _INSTEAD.split(sentence, maxsplit=1)[0]


def is_common_word(word: str) -> bool:
    """Say whether many projects write a word, so that it names nothing by being there."""
    return stem(word.lower()) in _common_stems()


@cache
def _common_stems() -> frozenset[str]:
    return frozenset(yaml.table_of(__file__, "common_words.yaml")["stems"].split())


def names_in_sentence(
    options: Iterable[RejectedOption],
    sentences: Sequence[str],
    count_of: Callable[[str], int],
    number: int,
) -> Iterator[RejectedOption]:
    """Yield the options that one of some sentences names, each as words with spaces around them.

    `count_of` says in how many of `number` decisions a word is: common words name nothing.
    """
    most = max(_COMMON_COUNT, _COMMON_SHARE * number)

    def is_common(word: str) -> bool:
        return len(word) < 3 or word.isdigit() or is_common_word(word) or count_of(word) >= most

    for option in options:
        phrases = _phrases(option, is_common)
        names = [name for name in phrases if not name.startswith(EXACT)]
        if any(f" {name} " in text for name, text in product(names, sentences)):
            yield option
