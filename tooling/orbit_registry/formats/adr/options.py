"""Options that a decision considered: the rejected ones with their reasons, and what was chosen."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from orbit_registry.formats.adr.header import visible_lines
from orbit_registry.formats.adr.headings import COST, section_key, without_numbering
from orbit_registry.formats.adr.model import NO_OPTIONS, Options, RejectedOption
from orbit_registry.formats.adr.vocabulary import VOCABULARY, word_set
from orbit_registry.formats.markdown import Document, Heading, within
from orbit_registry.formats.position import Span
from orbit_registry.formats.sentences import FILLER
from orbit_registry.formats.untrusted import cut
from orbit_registry.formats.wording import plain

LONGEST_OPTION, LONGEST_REASON, MOST_OPTIONS = 200, 300, 50
LONGEST_NAME, LONGEST_TEXT = 400, 4_000
"""Characters that are read of a name or heading, and of another text:
patterns take longer than linear time.
"""
LIKE = 0.5  # share of words that an option and the text of the choice have in common at least


def _alternation(name: str) -> str:
    listed = frozenset(word.strip() for word in VOCABULARY[name].split(","))
    words = sorted(map(re.escape, listed | word_set(name)), key=len, reverse=True)
    return "|".join(words).replace(r"\ ", "[ ]")


def _lower(words: str) -> tuple[str, ...]:
    lower = {word.strip().lower() for word in words.split(",")}
    return tuple(sorted(word for word in lower if not any(part in word for part in lower - {word})))


_REJECTED, _CHOSEN, _CHOSEN_MARK = (
    _alternation(f"options_{name}") for name in ("rejected", "chosen", "chosen_mark")
)
_BECAUSE, _LABELS = _alternation("options_because"), _alternation("options_label")
_BECAUSE = rf"(?!as (?:it|this) is[ ]*(?:[^\w\s]|$))(?:{_BECAUSE})"
_REJECTED_WORDS, _CHOSEN_WORDS = (
    _lower(VOCABULARY["options_rejected"]),
    _lower(VOCABULARY["options_chosen"]),
)
_SECTION_WORDS = _lower(
    f"{VOCABULARY['sections']['options']}, {VOCABULARY['options_label']}, why not"
)
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*+]|(?P<number>\d{1,2})[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)"
)
_BOLD = re.compile(r"(?:\*\*|__)(?P<name>[^*\r\n](?:[^*\r\n]|\*(?!\*)){0,240}?)(?:\*\*|__)")
_LINK = re.compile(r"!?\[([^\[\]\r\n]{1,300})\](?:\([^()\r\n]{0,500}\)|\[[^\[\]\r\n]{0,100}\])")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LABEL = re.compile(
    rf"[\W_]*(?:(?:{_LABELS})[ ]*#?(?P<word>\d{{1,2}}(?:\.\d+)*[a-z]?|[a-z]\d?)?[ ]*(?:[:.)—–-]+|$)"
    r"|\(?(?P<mark>\d{1,2}[a-z]?|[a-z]\d?)\)|(?P<dot>[a-z]|\d{1,2})[.:][ ])[ ]*",
    re.IGNORECASE,
)
_LABELLED = re.compile(rf"\b(?:{_LABELS})[ ]+(?:\d{{1,2}}|[A-H])\b(?![ ]?\()", re.IGNORECASE)
_INSTEAD = re.compile(
    r"\b(?:instead of|rather than|over|not|without|no longer|replac\w+)\b", re.IGNORECASE
)
_VERDICT = rf"(?:{_REJECTED}|{_CHOSEN_MARK})"
_MARK = re.compile(
    rf"[ ]*(?:[(\[](?P<in>[^()\[\]]{{0,40}}?\b{_VERDICT}\b[^()\[\]]{{0,200}})[)\]]"
    rf"|[—–:-]+[ ]*(?P<behind>{_VERDICT})[.]?)[ .]*$",
    re.IGNORECASE,
)
_SIGN = re.compile(r"[✅✔☑❌✖✗🏆⭐]\ufe0f?")
_SEPARATOR = re.compile(
    r"[ ](?:[—–-]{1,2}|[=-]>)[ ]|:[ ]|:$|—|[.](?=[ ]+\W?[A-Z])"
    rf"|,?[ ](?={_BECAUSE})|[ ]\((?={_REJECTED}|{_BECAUSE})",
    re.IGNORECASE,
)
_CHOSEN_LINE = re.compile(
    rf"[ \t>]*(?:[-*+][ \t]+|(?P<heading>\#{{2,6}}[ ]+))?[*_]*(?:{_CHOSEN})(?:s\b|\(s\))?"
    r"(?:[ ](?:for[ ]+)?[\"“][^\"”\r\n]{1,200}[\"”](?=[ ]?:))?[*_]*[ ]?[:：—–-]*"
    r"(?:[*_]+(?=[ \t:：]|$))?[:： \t]*(?P<text>.*)",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"[\W_]*(?:to be (?:determined|decided|defined)|tb[ad]|undecided|not (?:yet )?decided)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«「]+(.{1,300}?)[\"”“»」]+(?=[\W_]|$)|\*\*([^*]{1,300})\*\*")
_OUTER = re.compile(r"(?P<quote>[\"'`“„])(?P<text>.{1,300})(?:(?P=quote)|[”“])[\W_]*$")
_CUT = re.compile(rf",?[ ](?:{_BECAUSE})|[.](?:[ ]|$)|;", re.IGNORECASE)
_REJECTED_LINE = re.compile(
    rf"[ \t>]*(?:(?P<item>[-*+]|\d{{1,2}}[.)])[ \t]+)?(?P<bold>\*\*|__)?(?:{_REJECTED})"
    rf"(?:[ ](?:{_LABELS})s?)?(?P<close>\*\*|__)?[ ]?(?P<stop>[:：]|[—–-](?=[ "
    rf"]|$))?(?P<shut>\*\*|__)?"
    r"(?(stop)|(?=[ ]\([a-z0-9]\)))[ ]*(?P<text>\S.*)",
    re.IGNORECASE,
)
_WHY_NOT = re.compile(
    r"why not (?:use |to )?(?P<text>(?!the alternatives|the other)\S.*?)\??$", re.IGNORECASE
)
_BRACKET = re.compile(r"(?P<name>\S.*?)[ ]\((?P<reason>[^()]* [^()]*)\)[.]?")
"""A reason in brackets: `Rejected: Redis (one more server)`."""
_REJECTED_PREFIX = "Rejected: "
_REJECTING = re.compile(rf"(?:^|[^\w])(?:{_REJECTED})\w{{0,3}}(?:[^\w]|$)", re.IGNORECASE)
_REJECTED_LEAD = re.compile(
    rf"^[\W_]*(?:(?:this|it)[ ](?:is|was)[ ])?(?:{_REJECTED})(?:[ ](?:{_LABELS})s?)?"
    rf"(?:[ ]\((?![a-z0-9]\))[^()]*\))?(?:[*_]*[ ]?[.:：;,—–)-]+|[*_]*(?=[ ](?:{_BECAUSE})|[ "
    rf"]\([a-z0-9]\))|$)[*_ ]*",
    re.IGNORECASE,
)
_REJECTED_INSIDE = re.compile(
    rf"(?:^|[.;,] ?|\()[*_]*(?:{_REJECTED})[*_]*[:：;,. —–-]", re.IGNORECASE | re.MULTILINE
)
_BECAUSE_LEAD = re.compile(rf"^(?:{_BECAUSE})[ ,:]*", re.IGNORECASE)
_COST_LEAD = re.compile(
    r"^[\W_]*(?:[^\W\d_]+)[\W_]*(?:[:：—–,]|because)[\W_]*(?:because|weil|da|car|parce "
    r"que|porque)?[\W_]*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:(?<=[^\W\d_]{2})|(?<=[)\]\"'`%\d]))[.!?](?=[ ]+\W?[A-Z0-9])|[。！？]")
_PLACEHOLDER = re.compile(r"[{<\[].*[}>\]]|…|\.\.\.|tbd|todo|n/?a|\W*", re.IGNORECASE)
_QUOTES = frozenset("\"'“”„«»「」")
_GOOD = re.compile(
    r"[\W_]*(?:good|neutral|positive|pros?|advantages?|main "
    r"page|examples?|see|gut|bon|bien|bueno|bom|https?|<http)\b",
    re.IGNORECASE,
)
_SAYS_WHY = re.compile(rf"(?:^|\b)(?:{_BECAUSE}|{_VERDICT}|but|too|lacks?)\b|❌|✗", re.IGNORECASE)
"""In a list of options whose heading rejects none: other texts describe the option."""
_WORD = re.compile(r"\w+")
_ALTERNATIVES = word_set("options_alternatives")


@dataclass(slots=True)
class _Unit:
    """An option where it is written: its name, its label (`2`, `B`), what is said of it,
    and the verdict.
    """

    name: str
    label: str
    body: str
    verdict: str = ""
    cost: str = ""
    # the verdict is at the beginning or the end of the name, or at the beginning of the text
    is_explicit: bool = False


def read_options(document: Document, span: Span) -> Options:
    """Return the options of the decision in `span`."""
    text = span.of(document.text).lower()
    chosen_words, rejected_words = _words_in(text, _CHOSEN_WORDS), _words_in(text, _REJECTED_WORDS)
    if not (chosen_words or rejected_words or _words_in(text, _SECTION_WORDS)):
        return NO_OPTIONS

    headings = within(document.headings, span, lambda heading: heading.section.start)
    chosen = _chosen(document, span, chosen_words) if chosen_words else []
    is_open = any(map(_UNDECIDED.match, chosen))
    chosen = [] if is_open else chosen
    rejected: list[_Unit] = []

    details: list[_Unit] = []
    covered: list[Span] = []
    picked_name = ""
    for heading in headings:
        key, is_rejecting = section_key(heading.text), _is_rejecting(heading.text)

        if any(_inside(heading, other) for other in covered):
            continue

        if key == "pros_cons":
            details += _units(document, heading, headings)
            covered.append(heading.section)
        elif key == "options" or is_rejecting:
            units = _units(document, heading, headings)
            covered.append(heading.section)
            is_known = is_rejecting or _names_alternatives(heading.text)
            picked = [unit for unit in units if unit.verdict == "chosen"] or _picked(units, chosen)

            if not (picked or is_known or is_open):
                picked = _picked(units, _chosen_label(document, headings)) or _decided(
                    document, span, headings, units
                )

            picked_name = picked_name or next((unit.name for unit in picked), "")
            is_known = is_known or bool(picked)
            rejected += (
                unit
                for unit in units
                if unit not in picked and (is_known or unit.verdict == "rejected")
            )
        elif (unit := _rejected_heading(document, heading)) is not None:
            rejected.append(unit)
            covered.append(heading.section)

    rejected += _scattered(document, span, headings, covered, rejected_words)
    return Options(tuple(_result(rejected, details)), picked_name or ", ".join(chosen))


def _words_in(text: str, words: Sequence[str]) -> list[str]:
    is_ascii = text.isascii()
    return [word for word in words if word.isascii() >= is_ascii and word in text]


def _inside(heading: Heading, span: Span) -> bool:
    return span.start <= heading.section.start < span.end


def _is_rejecting(heading: str) -> bool:
    """Say whether a heading is above rejected options:
    `Rejected`, `Alternatives considered and rejected`.
    """
    name = plain(without_numbering(heading[:LONGEST_NAME]))
    match = _REJECTING.search(name)
    return (
        match is not None
        and len(_WORD.findall(name)) <= 5
        and not re.search(r"[:—–]", name.rstrip(" :"))
    )


def _names_alternatives(heading: str) -> bool:
    """Say whether a heading is above what was not chosen:
    `Alternatives considered`, not `Considered options`.
    """
    name = plain(heading)
    return any(word in name for word in _ALTERNATIVES)


def _rejected_heading(document: Document, heading: Heading) -> _Unit | None:
    """Return the option of a heading such as `Rejected:
    one queue` or `Rejected alternative — one queue`.
    """
    name = without_numbering(heading.text[:LONGEST_NAME])
    match = _REJECTED_LINE.match(name)
    match = match if match and match["stop"] else _WHY_NOT.match(name)
    if match is None:
        return None

    return _unit(
        match["text"], _text_of(document, heading.body), "rejected", _cost(document, heading.body)
    )


def _units(document: Document, section: Heading, headings: Sequence[Heading]) -> list[_Unit]:
    """Return the options of a section: its subsections, else the items of its list,
    its table or bold paragraphs.
    """
    below = [heading for heading in headings if _inside(heading, section.body)]
    if below:
        top = min(heading.level for heading in below)
        tops = [
            heading
            for heading in below
            if heading.level == top and section_key(heading.text) == "other"
        ]
        bodies = [(each.text, each.body) for each in tops]
        units = [
            _unit(name, _text_of(document, body), cost=_cost(document, body))
            for name, body in bodies
        ]
        labelled = [unit for unit in units if unit.label]
        return labelled if len(labelled) > 1 else units

    rejects = _is_rejecting(section.text) or _names_alternatives(section.text)
    parts = _parts(document, section.body)
    items = [(name, body if rejects or _SAYS_WHY.search(body) else "") for name, body in parts]
    return [_unit(*item) for item in items] or list(_rows(document, section.body))


def _rows(document: Document, span: Span) -> Iterator[_Unit]:
    for table in within(document.tables, span, lambda table: table.span.start):
        for row in table.rows[1:]:
            if len(row) > 1 and row[0].text:
                yield _unit(row[0].text, row[-1].text)


def _parts(document: Document, span: Span, *, joined: bool = False) -> Iterator[tuple[str, str]]:
    """Yield name and text (or both `joined`) of outermost items,
    and of paragraphs that begin in bold or `Rejected`.
    """
    items: list[list[str]] = []
    indent = -1
    blank = True
    for line in visible_lines(document, span, document.hidden):
        content = document.text[line.start : line.end].rstrip()
        match = _ITEM.match(content)
        width = len(match["indent"].expandtabs(4)) if match else 0
        if match and (indent < 0 or width <= indent) and width < 4:
            indent = width
            number = f"{match['number']}. " if match["number"] else ""
            items.append([number + content[match.end() :]])
        elif not match and _starts_option(
            content, after_break=blank, item=items[-1] if items else ()
        ):
            items.append([content])
        elif not content:
            blank = True
            continue
        elif items and (not blank or content[:1] in " \t"):
            items[-1].append(content.strip())
        elif items and not content.startswith(("|", ">")):
            items.append([])

        blank = False

    for item in items:
        if item:
            text = " ".join(item)
            yield (text, "") if joined else _split(text)


def _starts_option(line: str, *, after_break: bool, item: Sequence[str]) -> bool:
    """Say whether a line that is no item begins an option:
    in bold, or with `Rejected`, also below such a line.
    """
    if _REJECTED_LINE.match(line):
        return after_break or bool(item and _REJECTED_LINE.match(item[0]))
    return after_break and line[:2] in ("**", "__")


def _split(text: str) -> tuple[str, str]:
    text = _COMMENT.sub("", text[:LONGEST_TEXT]).strip()
    rejected = _REJECTED_LINE.match(text)
    if rejected is not None:
        opening = (rejected["bold"] or "") if not (rejected["close"] or rejected["shut"]) else ""
        name, body = _split(opening + rejected["text"])
        bracket = _BRACKET.fullmatch(name) if not body else None
        if bracket is not None:
            name, body = bracket["name"], bracket["reason"]
        return f"{_REJECTED_PREFIX}{name}", body

    label = _LABEL.match(text)
    start = label.end() if label and label.end() < len(text) else 0
    bold = _BOLD.match(text, start) or _BOLD.match(text)
    if bold is not None and (bold.start() or not _LABEL.fullmatch(bold["name"])):
        return text[: bold.start()] + bold["name"], text[bold.end() :].lstrip(" .:,—–-")

    bare = text[start:]
    link = _LINK.match(bare)
    cuts = _SEPARATOR.finditer(bare, link.end() if link else 1)
    cut = next((cut for cut in cuts if _is_closed(bare[: cut.start()])), None)

    if cut is None:
        return text, ""

    return text[: start + cut.start()], bare[cut.end() :].strip()


def _is_closed(text: str) -> bool:
    is_even = all(text.count(sign) % 2 == 0 for sign in '"`')
    return is_even and text.count("(") <= text.count(")") and text.count("“") <= text.count("”")


def _unit(name: str, body: str, verdict: str = "", cost: str = "") -> _Unit:
    name, body = name[:LONGEST_NAME], body[:LONGEST_TEXT]
    bare = _LINK.sub(r"\1", _COMMENT.sub("", name)).strip()
    signs = _SIGN.findall(bare)
    bare = _SIGN.sub("", bare).strip()
    lead = _REJECTED_LEAD.match(bare)

    if lead:
        verdict, bare = "rejected", bare[lead.end() :]

    label = _LABEL.match(bare)
    if label is not None and label.end() < len(bare):
        bare = bare[label.end() :]

    mark = _MARK.search(bare)
    if mark is not None:
        word = mark["in"] or mark["behind"]
        verdict = verdict or ("rejected" if _REJECTING.search(word) else "chosen")
        bare = bare[: mark.start()]

    is_explicit = bool(verdict) or _REJECTED_LEAD.match(body) is not None
    return _Unit(
        _tidy(bare), _letters(label), body, verdict or _verdict(signs, body), cost, is_explicit
    )


def _letters(label: re.Match[str] | None) -> str:
    return ((label["word"] or label["mark"] or label["dot"] or "") if label else "").lower()


def _verdict(signs: Sequence[str], body: str) -> str:
    if any(sign[0] in "❌✖✗" for sign in signs):
        return "rejected"
    if signs or re.match(rf"[\W_]*(?:{_CHOSEN_MARK})[*_]*[.:,!—–-]", body, re.IGNORECASE):
        return "chosen"
    return "rejected" if _REJECTED_INSIDE.search(body[:LONGEST_REASON]) else ""


def _tidy(text: str) -> str:
    flat = " ".join(text.replace("**", "").replace("__", "").replace("`", "").split()).strip(
        " .,:;—–-*_"
    )
    return flat[1:-1] if flat[:1] in _QUOTES and flat[-1:] in _QUOTES and len(flat) > 2 else flat


def _text_of(document: Document, span: Span) -> str:
    lines = visible_lines(document, span, document.hidden)
    return "\n".join(document.text[line.start : line.end].strip() for line in lines)


def _cost(document: Document, span: Span) -> str:
    """Return the first stated drawback: `Bad, because …`."""
    for line in visible_lines(document, span, document.code):
        if COST.match(document.text, line.start, span.end):
            parts = list(_parts(document, Span(line.start, span.end), joined=True))
            return _COST_LEAD.sub("", parts[0][0]).strip() if parts else ""
    return ""


def _chosen(document: Document, span: Span, words: Sequence[str]) -> list[str]:
    """Return what `Chosen option: …` names: what is in quotes or bold,
    else the text up to its reason, or a list.
    """
    lines = list(visible_lines(document, span, document.code))
    names: list[str] = []
    for index, line in enumerate(lines):
        has_word = _words_in(document.text[line.start : line.end].lower(), words)
        match = _CHOSEN_LINE.match(document.text, line.start, line.end) if has_word else None
        if match is None or (names and not match["heading"]):
            continue

        text = match["text"][:LONGEST_TEXT]
        if not text and (items := _items_below(document, Span(line.end, span.end))):
            return items

        below = (
            document.text[other.start : other.end].strip() for other in lines[index + 1 : index + 4]
        )
        if not _CUT.search(text):  # it continues below, or begins there
            text = (
                f"{text} {next(filter(None, below), '') if not text.strip() else next(below, '')}"
            ).strip()

        cut = re.search(rf"[ ](?:{_BECAUSE})", text, re.IGNORECASE)
        head = text[: cut.start()] if cut else text
        outer = _OUTER.match(head)
        quoted = (
            [outer["text"]]
            if outer
            else [first or second for first, second in _QUOTED.findall(head)]
        )

        if not quoted:
            end = _CUT.search(head)
            quoted = [head[: end.start()] if end else head]

        names += (
            name for name in (_LINK.sub(r"\1", part).strip(' ,.*_`"') for part in quoted) if name
        )

        if not match["heading"]:
            break

    return names


def _items_below(document: Document, span: Span) -> list[str]:
    """Return the names of a list that follows `Chosen options:`."""
    below = within(document.headings, span, lambda heading: heading.section.start)
    area = Span(span.start, below[0].section.start if below else span.end)
    if _ITEM.match(area.of(document.text).lstrip()) is None:
        return []
    return [_tidy(_LINK.sub(r"\1", name)) for name, _ in _parts(document, area)]


def _chosen_label(document: Document, headings: Sequence[Heading]) -> list[str]:
    """Return the one label, such as `Option 2`, that the section of the decision names."""
    for heading in headings:
        if section_key(heading.text) == "decision":
            text = heading.body.of(document.text)[:LONGEST_TEXT]
            labels = {match[0].casefold() for match in _LABELLED.finditer(text)}
            return [*labels] if len(labels) == 1 else []
    return []


def _picked(units: Sequence[_Unit], chosen: Iterable[str]) -> list[_Unit]:
    """Return the units that are chosen: by label, by the same words, as parts of the choice,
    else the nearest one.
    """
    picked: list[_Unit] = []
    for name in chosen:
        match = _LABEL.match(name if name[-1:] in ":.)" else f"{name}:")
        label, label_end = _letters(match), match.end() if match else 0
        words = set(_words(name[label_end:] or name))
        matches = [unit for unit in units if set(_words(unit.name)) == words]
        matches = matches or [unit for unit in units if label and unit.label == label]
        matches = matches or [unit for unit in units if words.issuperset(_words(unit.name))]

        if not matches and units and words:
            nearest = max(units, key=lambda unit: _likeness(unit, words))
            matches = [nearest] if _likeness(nearest, words) >= LIKE else []

        picked += matches

    return picked


def _likeness(unit: _Unit, words: set[str]) -> float:
    others = set(_words(unit.name))
    return 1.0 if words <= others else len(words & others) / len(words | others)


def _decided(
    document: Document, span: Span, headings: Sequence[Heading], units: Sequence[_Unit]
) -> list[_Unit]:
    """Return the units whose words are all in the title or in the first sentence of the decision,
    if not all are.
    """
    titles = [heading.text for heading in document.headings if heading.section.start < span.start][
        -1:
    ]
    decision = next(
        (heading for heading in headings if section_key(heading.text) == "decision"), None
    )
    first = _SENTENCE.split(_text_of(document, decision.body).strip(), 1)[0] if decision else ""
    words = [set(_words(_INSTEAD.split(text, 1)[0])) for text in (*titles, first)]
    matches = [
        unit
        for unit in units
        if unit.name and any(text.issuperset(_words(unit.name)) for text in words)
    ]

    return matches if len(matches) < len(units) else []


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(plain(text)) if word not in _SMALL]


_SMALL = frozenset(
    (
        "a",
        "an",
        "the",
        "use",
        "using",
        "with",
        "to",
        "for",
        "of",
        "and",
        "in",
        "as",
        "is",
        "was",
        "it",
        "this",
        "that",
    )
)


def _scattered(
    document: Document,
    span: Span,
    headings: Sequence[Heading],
    covered: Sequence[Span],
    words: Sequence[str],
) -> Iterator[_Unit]:
    if not words:
        return

    starts = [span.start, *(heading.body.start for heading in headings)]
    ends = [*(heading.section.start for heading in headings), span.end]
    for start, end in zip(starts, ends, strict=True):
        is_covered = any(part.start <= start < part.end for part in covered)
        if not is_covered and _words_in(document.text[start:end].lower(), words):
            for part in _parts(document, Span(start, end)):
                unit = _unit(*part)
                if unit.verdict == "rejected" and unit.is_explicit:
                    yield unit


def _result(rejected: Iterable[_Unit], details: Sequence[_Unit]) -> Iterator[RejectedOption]:
    keys: set[str] = set()
    for unit in rejected:
        key = " ".join(_words(unit.name))
        if not key or key in keys or len(unit.name) > LONGEST_OPTION or _is_filler(unit.name):
            continue

        keys.add(key)

        if len(keys) > MOST_OPTIONS:
            return

        yield RejectedOption(
            unit.name, _reason(unit) or next(filter(None, map(_reason, _same(unit, details))), "")
        )


def _is_filler(name: str) -> bool:
    is_reason = not _BECAUSE_LEAD.sub("", name, count=1)  # `Rejected because:` above a list
    return is_reason or _PLACEHOLDER.fullmatch(name) is not None or FILLER.match(name) is not None


def _same(unit: _Unit, details: Iterable[_Unit]) -> Iterator[_Unit]:
    words = set(_words(unit.name))
    for detail in details:
        if set(_words(detail.name)) == words or (unit.label and detail.label == unit.label):
            yield detail


def _reason(unit: _Unit) -> str:
    """Return why an option was rejected: what follows `Rejected:`, else its first drawback,
    else its first sentence.
    """
    match = _REJECTED_INSIDE.search(unit.body)
    text = unit.body[match.end() :] if match is not None else unit.cost
    sentences = 1 if text else 2  # the first one often praises
    text = text or "\n".join(line for line in unit.body.split("\n") if not _GOOD.match(line))
    flat = " ".join(_LINK.sub(r"\1", text).replace("**", "").replace("`", "").split()).strip(
        " :,—–-*_"
    )
    flat = _BECAUSE_LEAD.sub("", _REJECTED_LEAD.sub("", flat))
    ends = [end.start() for end in _SENTENCE.finditer(flat)]

    return cut(
        (flat[: ends[sentences - 1]] if len(ends) >= sentences else flat).strip(" .:"),
        LONGEST_REASON,
    )
