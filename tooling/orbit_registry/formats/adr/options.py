"""Options that a decision's text seems to reject: suggestions for its record, where a person states
them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from orbit_registry.formats.adr.header import LINK, visible_lines
from orbit_registry.formats.adr.headings import section_key, without_numbering
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.rejected_option import RejectedOption
from orbit_registry.formats.adr.sentence import section_of
from orbit_registry.formats.adr.vocabulary import word_forms, word_set
from orbit_registry.formats.markdown import Document, Heading, parse_markdown, within
from orbit_registry.formats.needles import needles_in, needles_of
from orbit_registry.formats.position import Span
from orbit_registry.formats.sentences import FILLER
from orbit_registry.formats.untrusted import cut
from orbit_registry.formats.wording import plain

LONGEST_OPTION, LONGEST_REASON, MOST_OPTIONS = 200, 300, 50
_LONGEST_TEXT = 4_000  # characters that are read of what is written about an option
_LONGEST_NAME = 400
_LIKE = 0.5  # share of words that an option and the text of the choice have in common at least
_BLOCK = pattern("block")
_CHOSEN = pattern("chosen_option")
_REJECTED = pattern("rejected_option")
_LABEL = pattern("option_label")
_BOLD = pattern("option_in_bold")
_SEPARATOR = pattern("after_option")
_CHOSEN_MARK = pattern("chosen_mark")
_REJECTED_MARK = pattern("rejected_mark")
_WHY = pattern("why_rejected")
_BECAUSE = pattern("because")
_DRAWBACK = pattern("drawback")
_SENTENCE = pattern("sentence_end")
_PRAISE = pattern("praise")
_INSTEAD = pattern("instead")
_UNDECIDED = pattern("undecided")
_SAYS_WHY = pattern("says_why")
_IN_BRACKETS = pattern("in_brackets")
_REJECTING = pattern("rejecting")
_ALTERNATIVES = word_set("options_alternatives")
_SMALL_WORDS = "a an the use using with to for of and in as is was it this that"
_SMALL = frozenset(_SMALL_WORDS.split())
_WORD = re.compile(r"\w+")
_ITEM = re.compile(r"\n(?=[-*+][ ])")


@dataclass(frozen=True, slots=True)
class _Option:
    """An option where it is written, its label (`2`, `b`), and what is written about it."""

    name: str
    label: str
    text: str
    is_chosen: bool
    is_rejected: bool


def rejected_data(text: str, span: Span | None = None) -> list[dict[str, object]]:
    """Return the options that a decision's text seems to reject, as a record lists them."""
    return [option.as_data() for option in suggested_options(text, span)]


@lru_cache(maxsize=1024)  # an import asks for the record, and again for what checks compare
def suggested_options(text: str, span: Span | None = None) -> tuple[RejectedOption, ...]:
    """Return the options that a decision seems to reject, with the reasons. `span` is where the
    decision is in `text`: a document that was read for its facts is not parsed again.
    """
    document = parse_markdown(text)
    span = span or Span(0, len(text))
    text = span.of(text)
    choices = list(_CHOSEN.finditer(text))
    chosen = _choice_in(choices)
    options: list[_Option] = []
    details: list[_Option] = []
    covered: list[Span] = []
    for heading in within(document.headings, span, lambda heading: heading.section.start):
        if any(section.start <= heading.section.start < section.end for section in covered):
            continue

        key = section_key(heading.text)
        is_of_rejected = _is_of_rejected(heading)
        name = without_numbering(heading.text)
        if key == "pros_cons":
            details += _options_in(document, heading.body, True)
        elif _REJECTED.match(name):
            options.append(_option(name, _text_of(document, heading.body)))
        elif key == "options" or is_of_rejected:
            listed = _options_in(document, heading.body, is_of_rejected)
            picked = _picked(listed, chosen, text, has_choice=bool(choices))
            options += _rejected(listed, picked, is_of_rejected)
        else:
            continue

        covered.append(heading.section)

    options += _scattered(document, span, covered)
    return tuple(_results(options, details))


def chosen_option(text: str) -> str:
    """Return what a decision's text names as its choice: `Chosen option: "Redis", because …`."""
    return _choice_in(list(_CHOSEN.finditer(text)))


def _choice_in(choices: Sequence[re.Match[str]]) -> str:
    if len(choices) != 1:  # of several choices, none is the one
        return ""

    quoted, bold, words = choices[0].group("quoted", "bold", "plain")
    name = quoted or bold
    if not name:
        reason = _BECAUSE.search(words)
        name = _SENTENCE.split(words[: reason.start()] if reason else words, maxsplit=1)[0]

    return _tidy(LINK.sub(r"\g<text>", name))


def _is_of_rejected(heading: Heading) -> bool:
    """Say whether a heading is above what was not chosen: `Alternatives considered`."""
    name = plain(without_numbering(heading.text))
    if any(word in name for word in _ALTERNATIVES):
        return True

    return _REJECTING.fullmatch(name) is not None


def _options_in(document: Document, span: Span, is_sure: bool) -> list[_Option]:
    """Return the options of a section: its subsections, else its items and paragraphs in bold,
    else the rows of its table. Unless it is sure that they are rejected, a text without a reason
    describes the option.
    """
    below = within(document.headings, span, lambda heading: heading.section.start)
    top = min((heading.level for heading in below), default=0)
    others = [each for each in below if each.level == top and section_key(each.text) == "other"]
    if others:
        options = [_option(each.text, _text_of(document, each.body)) for each in others]
        labelled = [option for option in options if option.label]
        if len(labelled) > 1:
            return labelled

        return options

    items: list[_Option] = []
    for block in _blocks(document, span):
        if _starts_option(block):
            name, text = _split(block)
            items.append(_option(name, text if is_sure or _SAYS_WHY.search(text) else ""))

    return items or [*_rows(document, span)]


def _rows(document: Document, span: Span) -> Iterator[_Option]:
    for table in within(document.tables, span, lambda table: table.span.start):
        for row in table.rows[1:]:
            if len(row) > 1 and row[0].text:
                yield _option(row[0].text, row[-1].text)


def _blocks(document: Document, span: Span) -> Iterator[str]:
    """Yield the outermost items and the paragraphs of a span, each as one line."""
    lines: list[str] = []
    for line in visible_lines(document, span, document.hidden):
        content = line.of(document.text).rstrip()
        is_next = _REJECTED.match(content) and lines and _REJECTED.match(lines[0])
        if lines and (not content or _BLOCK.match(content) or is_next):
            yield " ".join(lines)[:_LONGEST_TEXT]
            lines = []

        if content:
            lines.append(content.strip())

    if lines:
        yield " ".join(lines)[:_LONGEST_TEXT]


def _starts_option(block: str) -> bool:
    return _BLOCK.match(block) is not None or block.startswith(("**", "__"))


def _split(block: str) -> tuple[str, str]:
    """Return the name that a block begins with, its number ahead, and what is written behind it."""
    item = _BLOCK.match(block)
    text = LINK.sub(r"\g<text>", block[item.end() if item else 0 :])
    number = f"{item['number']}. " if item is not None and item["number"] else ""
    bold = _BOLD.match(text)
    if bold is not None:
        return number + bold["name"], text[bold.end() :]

    rejected = _REJECTED.match(text)
    start = rejected.end() if rejected else 0
    label = _LABEL.match(text, start)
    separators = _SEPARATOR.finditer(text, label.end() if label else start)
    closed = (each for each in separators if _is_closed(text[: each.start()]))
    separator = next(closed, None)
    brackets = _IN_BRACKETS.fullmatch(text, start) if rejected and not separator else None
    if brackets is not None:
        return text[: brackets.end("name")], brackets["reason"]

    if separator is None:
        return number + text, ""

    return number + text[: separator.start()], text[separator.end() :]


def _is_closed(text: str) -> bool:
    is_even = text.count('"') % 2 == 0 and text.count("`") % 2 == 0
    return is_even and text.count("(") <= text.count(")")


def _option(name: str, text: str) -> _Option:
    bare = name[:_LONGEST_NAME]
    rejected = _REJECTED.match(bare)
    bare = bare[rejected.end() :] if rejected else bare
    mark = _REJECTED_MARK.search(bare)
    chosen = None if rejected or mark else _CHOSEN_MARK.search(bare)
    is_rejected = bool(rejected or mark or _WHY.search(text[:LONGEST_REASON]))

    if mark or chosen:
        bare = (_REJECTED_MARK if mark else _CHOSEN_MARK).sub("", bare)

    label = _LABEL.match(bare)
    number = next(filter(None, label.groups()), "").lower() if label else ""
    bare = bare[label.end() :] if label else bare
    return _Option(_tidy(bare), number, text, chosen is not None, is_rejected)


def _picked(
    options: Sequence[_Option], chosen: str, text: str, *, has_choice: bool
) -> list[_Option]:
    """Return the options that were chosen: those with a mark, else the one that the text names as
    its choice, else those that the first sentence of the decision names, if it does not name all.
    """
    marked = [option for option in options if option.is_chosen]
    if marked or has_choice:
        return marked or _like(options, chosen)

    first = _SENTENCE.split(section_of(text, "decision").strip(), maxsplit=1)[0]
    if _UNDECIDED.search(first):
        return []

    words = _words(_INSTEAD.split(first, maxsplit=1)[0])
    decided = [option for option in options if option.name and _words(option.name) <= words]
    if len(decided) < len(options):
        return decided

    return []


def _rejected(
    options: Sequence[_Option], picked: Sequence[_Option], is_sure: bool
) -> list[_Option]:
    """Return the options of a section that were not chosen. Without a choice, only a section of
    alternatives, or a word at the option itself, rejects one.
    """
    if is_sure or picked:
        return [option for option in options if option not in picked]

    return [option for option in options if option.is_rejected]


def _like(options: Sequence[_Option], chosen: str) -> list[_Option]:
    """Return the option whose label or words the text of the choice has."""
    if not chosen:
        return []

    label = _LABEL.match(f"{chosen}:")
    number = next(filter(None, label.groups()), "").lower() if label else ""
    labelled = [option for option in options if number and option.label == number]
    words = _words(chosen[label.end() :] if label else chosen)
    best = max(options, key=lambda option: _likeness(option, words), default=None)
    if labelled or best is None or _likeness(best, words) < _LIKE:
        return labelled

    return [best]


def _likeness(option: _Option, words: set[str]) -> float:
    others = _words(option.name)
    if not others or not words:
        return 0.0

    if words == others:
        return 2.0

    is_part = words <= others or others <= words
    if is_part:
        return 1.0

    return len(words & others) / len(words | others)


def _scattered(document: Document, span: Span, covered: Sequence[Span]) -> Iterator[_Option]:
    """Yield the options outside these sections of which a line says that they were rejected."""
    starts = [span.start, *(section.end for section in covered)]
    ends = [*(section.start for section in covered), span.end]
    signs = needles_in(span.of(document.text).lower(), _signs_of_rejection())
    if not signs:
        return

    for start, end in zip(starts, ends, strict=True):
        for block in _blocks(document, Span(start, max(start, end))):
            lower = block.lower()
            if not any(sign in lower for sign in signs):
                continue

            item = _BLOCK.match(block)
            if _REJECTED.match(block, item.end() if item else 0) or block[2:].count("**") > 0:
                option = _option(*_split(block))
                if option.is_rejected:
                    yield option


@cache
def _signs_of_rejection() -> tuple[str, ...]:
    """Return what the patterns of rejection need; few blocks have one, and they are slow."""
    return needles_of([*word_forms("options_rejected"), "why not", *"❌✖✗"])


def _results(options: Iterable[_Option], details: Sequence[_Option]) -> Iterator[RejectedOption]:
    names: set[frozenset[str]] = set()
    for option in options:
        words = frozenset(_words(option.name))
        is_filler = FILLER.match(option.name) or option.name.startswith(("{", "<"))
        if not words or words in names or is_filler or len(option.name) > LONGEST_OPTION:
            continue

        names.add(words)
        if len(names) > MOST_OPTIONS:
            return

        alike = (each for each in details if _words(each.name) == words)
        reasons = (_reason(each.text) for each in (option, *alike))
        yield RejectedOption(option.name, next(filter(None, reasons), ""))


def _reason(text: str) -> str:
    """Return why an option was rejected: what follows `Rejected:`, else its first drawback, else
    its first two sentences.
    """
    why = _WHY.search(text) or _DRAWBACK.search(text)
    words = _ITEM.split(text[why.end() :], maxsplit=1)[0] if why else _PRAISE.sub("", text)
    flat = " ".join(words.replace("**", "").replace("`", "").split())
    flat = _BECAUSE.sub("", flat.strip(" :,.;—–-*_("), count=1) if _BECAUSE.match(flat) else flat
    ends = [match.start() for match in _SENTENCE.finditer(flat)]
    number = 1 if why else 2
    first = flat[: ends[number - 1]] if len(ends) >= number else flat
    return cut(first.strip(" .:,;—–-*_"), LONGEST_REASON)


def _text_of(document: Document, span: Span) -> str:
    lines = visible_lines(document, span, document.hidden)
    text = "\n".join(line.of(document.text).strip() for line in lines)[:_LONGEST_TEXT]
    return LINK.sub(r"\g<text>", text)


def _tidy(text: str) -> str:
    flat = " ".join(text.replace("**", "").replace("__", "").replace("`", "").split())
    bare = flat.strip(" .,:;?—–-*_")
    is_quoted = len(bare) > 2 and bare[0] in "\"'“„«「" and bare[-1] in "\"'”“»」"
    if is_quoted:
        return bare[1:-1]

    return bare


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(plain(text)) if word not in _SMALL}
