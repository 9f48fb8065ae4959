"""Phrases in a text that relate one decision to another: `Superseded by [ADR-0042](x.md)`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import cast

from orbit_registry.formats.adr.file_names import GENERIC_NAMES
from orbit_registry.formats.adr.model import Rel
from orbit_registry.formats.adr.patterns import pattern
from orbit_registry.formats.adr.polarity import is_sure
from orbit_registry.formats.adr.vocabulary import VOCABULARY, choice
from orbit_registry.formats.position import Span

PARTLY = f"(?:{choice('partly')})"
_IN = rf"(?:[ -]{PARTLY})?"
_CJK_IN = rf"[ ]?(?:{PARTLY}[ ]?)?"
_DAY = r"[0-3]?[0-9](?:\.|st|[nr]d|th|er|º)?"
_MONTH = r"[^\W\d_]{3,12}\.?"
_WHEN = (
    rf"(?:(?:{choice('before_dates')})[ ](?:the[ ])?)?"
    r"(?:(?:19|20)[0-9]{2}(?:[-/.][0-9]{1,2}){0,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-](?:19|20)[0-9]{2}"
    rf"|(?:{_DAY}[ ](?:de[ ])?)?{_MONTH}(?:[ ]{_DAY},?)?[ ](?:de[ ])?(?:19|20)[0-9]{{2}})"
)
_GAP = rf"(?:[*_]{{0,3}}[,:]?[ ]?[(\[]?{_WHEN}[)\]]?,?)?[*_]{{0,3}}[ ]?[:,–—-]?[ ][*_]{{0,3}}[(\[]?"
"""What is between a verb and `by` in some texts: a date, bold marks, an opening bracket."""
_PARTIAL = r"(?:[ -](?:in[ -])?part(?:ially)?)?"
_LEAD = 8  # longest text before such a target
_NO_LETTER = r"(?<![^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
"""Preceded by no letter, except of scripts without blanks."""
PART = (
    rf"(?:(?<!all[ ])(?<!as[ "
    rf"]){_NO_LETTER}(?:{choice('part_words')})(?![^\W\d_])|{choice('part_signs')})"
)
"""Part of a decision: `Section 3 was superseded by`, `some clauses`."""
WITHIN = (
    r"(?:[^.;,:()|·—–\r\n]|[.,](?=[ ]?\d)|,[ ][^.;,:()|·—–\r\n]{1,40},(?=[ ])|\r?\n"
    r"(?=\S)|\([^()\r\n]{0,40}\)){0,60}?"
)
"""Text between that and its verb, including an insertion between two commas."""
_MAY_BE_PLANNED = ("superseded_by", "supersedes", "amended_by", "amends")
_FAR = 80  # characters before a verb that may name a part
_PART_OF: Mapping[Rel, Rel] = {"superseded_by": "amended_by", "supersedes": "amends"}
_INNER = r"[^()\r\n]{0,120}"
_REMARK = re.compile(rf"[*_]{{0,3}}[ ]?[*_]{{0,3}}\({_INNER}(?:\({_INNER}\){_INNER})?\)")
"""What is said of a decision in a list, in brackets."""
_AND = (
    r"(?:[,;&/+·|、，；]|<br[ ]?/?>|\r?\n[ \t>]*[-*+](?=[ \t])"
    r"|[ ](?:and|or|und|oder|et|ou|y|e|plus|as well as|sowie)(?=[ ]))"
)
_ALSO = r"(?:(?:and|und|et|plus|later|then|also)[ ]){0,3}[*_]{0,3}"
_NEXT = re.compile(rf"(?:[ \t]*[*_]{{0,3}}[ \t]*{_AND}[ \t\r\n]*{_ALSO})")
""" What separates the decisions of a list."""
_FAR_NEXT = re.compile(
    rf"[^\n]{{0,160}}?(?:{_AND}|\r?\n)[ \t\r\n]*{_ALSO}"
    r"(?:[\w ]{1,40},[ ])?(?=`?(?:\[[^\]\n]{1,200}\]\(|\[\[|(?:ADR|RFC)[- #]{0,2}\d))",
    re.IGNORECASE,
)
"""A remark without brackets, up to the next decision of a list: `ADR-8 - older; ADR-9`."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
OF_ITSELF = (
    r"(?:this|the)[ ](?:(?:architecture[ ])?decision(?:[ "
    r"]record)?|adr|rfc|record|document|proposal)"
    r"[ ](?:(?:is|was|has[ ]been|has[ ]now[ ]been)(?:[ ]now)?[ ])?"
)
"""Start of a sentence in which a decision describes itself, in any case."""
NOTICE = pattern("notice")
_LABEL = pattern("notice_label")
_OPENING = re.compile(
    rf"(?:{NOTICE.pattern})?[ \t*_>+-]*(?:{_LABEL.pattern})?(?P<itself>{OF_ITSELF})?",
    re.IGNORECASE,
)
_SENTENCE_ENDS = pattern("sentence_ends")
_WORD_BEFORE = re.compile(r"[\w-]")

_LINK = r"\[(?P<text>[^\[\]\n]{0,300})\]\((?P<href>[^()\s]{1,500})(?:[ ]\"[^\"\n]{0,200}\")?\)"
_WIKI = (
    r"\[\[(?P<wiki>[^\[\]|#\n]{1,200})(?:#[^\[\]|\n]{0,200})?(?:\\?\|(?P<shown>[^\[\]\n"
    r"]{1,200}))?\]\]"
)
_BRACKET = r"\[(?P<bracket>[^\[\]\n]{1,200})\](?:\[(?P<label>[^\[\]\n]{0,100})\])?"
_ID = (
    r"(?P<id>(?:[A-Za-z0-9][\w.-]{0,60}/){0,3}(?:ADRs?|RFC)[- "
    r"#]{0,2}(?:[0-9]{8}-[0-9]{1,3}(?!\w)|[0-9]{1,9}))"
)
_NO_DATE = r"(?!(?:19|20)[0-9]{2}-[0-9]{2}(?:-[0-9]{2})?(?![\w-]))"
_FILE = (
    rf"(?P<file>{_NO_DATE}(?:(?:[\w.-]{{1,60}}/){{0,4}}[0-9]{{3,8}}-[\w.-]{{1,150}}|[0-9]{{3,5}}"
    r"|[A-Za-z][A-Za-z0-9]{1,15}(?:[-_][A-Za-z0-9]{1,12}){0,2}[-_]0[0-9]{2,5}(?:-[\w.-]{1,150}"
    r"|(?![\w-]))"
    r"|#?[0-9]{1,5}(?=[\s,;.)]|$)))"
)
_MAY_NAME = pattern("may_name")
_WIKI_LINK = re.compile(_WIKI)
_TARGET = re.compile(rf"`?(?:{_LINK}|{_WIKI}|{_BRACKET}|{_ID}|{_FILE})`?")
_GLUE = pattern("glue")
_MARK = re.compile(r"[*_]{1,3}(?=[ \t])")
_OPENING_MARK = re.compile(r"[*_]{1,3}(?=[\[A-Z0-9`])")
_FILLER = pattern("filler")
_ID_SHAPE = pattern("id_shape")
_NUMBER_OF = pattern("number_of")
_NUMBER_OF_ANCHOR = pattern("number_of_anchor")


def _pattern(template: str) -> str:
    parts = {"CJK_IN": _CJK_IN, "GAP": _GAP, "IN": _IN, "PARTIAL": _PARTIAL, "PARTLY": PARTLY}
    for name, part in parts.items():
        template = template.replace(f"{{{name}}}", part)

    return template


@cache
def _verbs() -> re.Pattern[str]:
    groups = (
        f"(?P<{rel}>{_pattern('|'.join(forms))})" for rel, forms in VOCABULARY["verbs"].items()
    )
    return re.compile("|".join(groups), re.IGNORECASE)


@cache
def _endings() -> tuple[tuple[re.Pattern[str] | None, re.Pattern[str], Rel], ...]:
    return tuple(
        (
            re.compile(rf"(?:^|(?<![A-Za-z])){before}\Z", re.IGNORECASE) if before else None,
            re.compile(_pattern(after)),
            rel,
        )
        for rel, before, after in VOCABULARY["verbs_behind"]
    )


@cache
def _limits() -> tuple[re.Pattern[str], ...]:
    """Return the patterns that limit a verb to a part:
    two before it, two within it, and two after its target.
    """
    adverb = rf"{_NO_LETTER}{PARTLY}(?:\*\*|[*_])?[ ]?(?:been[ ])?\Z"
    within = rf"{_NO_LETTER}{PARTLY}(?![a-z])"
    behind = rf"[ ]?[(（,，]?[ ]?[的の의]?[ ]?{PARTLY}(?![a-z]|[ ]by)"
    # Of `Superseded by ADR-9, section 3` it is a section of the successor.
    behind_part = rf"{behind}|[ ]?[(,]?[ ]?(?:{PART})"
    before = rf"{adverb}|{PART}{WITHIN}\Z"
    patterns = (adverb, before, within, rf"{within}|{PART}", behind, behind_part)
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Phrase:
    """One target of one verb; `span` covers the target in the searched text."""

    rel: Rel
    target: str
    text: str
    span: Span
    verb: Span  # includes the words that limit it to a part
    of_part: bool = False  # only a part is replaced, which amends the whole
    is_sure: bool = True  # whether it is stated as a fact


def opening_phrases(text: str, start: int, end: int) -> Iterator[Phrase]:
    """Yield the phrases at a line's start; `This ADR has been superseded by ADR-9` has to end with
    its target.
    """
    opening = _OPENING.match(text, start, end)
    if opening is None:
        return

    phrases = [
        phrase
        for phrase in find_phrases(text, opening.end(), end)
        if phrase.verb.start <= opening.end() + 2
    ]
    if opening["itself"] is None or (
        phrases and _SENTENCE_ENDS.match(text[phrases[-1].span.end : end])
    ):
        yield from phrases


def without_label(line: str) -> str:
    """Return the words of a notice behind its mark, its picture or its `Note:`; empty for a line
    that has none.
    """
    opening = _OPENING.match(line)
    label = line[: opening.end()] if opening is not None else ""
    return line[len(label) :] if label.strip(" \t*_>+-") else ""


def find_phrases(text: str, start: int = 0, end: int | None = None) -> Iterator[Phrase]:
    """Yield the phrases in `text[start:end]` that state a fact, in order."""
    return (phrase for phrase in _all_phrases(text, start, end) if phrase.is_sure)


def unsure_phrases(text: str, start: int = 0, end: int | None = None) -> Iterator[Phrase]:
    """Yield the phrases about supersession that deny, plan or suppose it:
    `to be superseded by ADR-9`.
    """
    return (phrase for phrase in _all_phrases(text, start, end) if not phrase.is_sure)


def _all_phrases(text: str, start: int, end: int | None) -> Iterator[Phrase]:
    limit = len(text) if end is None else end
    if not any(match["name"] for match in _MAY_NAME.finditer(text, start, limit)):
        return

    behind = list(_ending_phrases(text, start, limit))
    phrases = [*behind]
    for phrase in _leading_phrases(text, start, limit):
        if not any(other.verb.start <= phrase.verb.start < other.verb.end for other in behind):
            phrases.append(phrase)

    if behind:
        phrases.sort(key=lambda phrase: phrase.span.start)

    yield from (_limited(text, start, limit, phrase) for phrase in phrases)


def _limited(text: str, start: int, limit: int, phrase: Phrase) -> Phrase:
    """Return the phrase as an amendment if it replaces only a part:
    `Section 3 was superseded by ADR-9`.
    """
    if phrase.rel not in _MAY_BE_PLANNED:
        return phrase
    if not is_sure(text, start, limit, phrase.verb, phrase.span):
        return replace(phrase, is_sure=False)
    if phrase.rel not in _PART_OF:
        return phrase

    is_passive = phrase.rel == "superseded_by"
    partly_before, part_before, has_partly, has_part, partly_behind, part_behind = _limits()
    far = max(start, phrase.verb.start - _FAR)
    before = (part_before if is_passive else partly_before).search(text, far, phrase.verb.start)
    inside = has_partly if is_passive else has_part

    between = ((phrase.verb.start, phrase.span.start), (phrase.span.end, phrase.verb.end))
    is_limited = before is not None or any(inside.search(text, *part) for part in between)
    behind = partly_behind if is_passive else part_behind
    if not is_limited and behind.match(text, phrase.span.end, limit) is None:
        return phrase

    verb = Span(before.start() if before is not None else phrase.verb.start, phrase.verb.end)
    rel = _PART_OF[phrase.rel]
    return Phrase(rel, phrase.target, phrase.text, phrase.span, verb, True)


def _leading_phrases(text: str, start: int, limit: int) -> Iterator[Phrase]:
    """Yield the phrases whose verb comes first: `Superseded by ADR-9`."""
    for match in _verbs().finditer(text, start, limit):
        before = text[match.start() - 1] if match.start() > start else ""
        if _WORD_BEFORE.match(before) and not _CJK.match(text, match.start()):
            continue

        rel = cast(Rel, match.lastgroup)
        mark = _MARK.match(text, match.end(), limit)  # `**Superseded by** ADR-9`
        at = _skip(_GLUE, text, mark.end() if mark else match.end(), limit)
        at = _skip(_OPENING_MARK, text, at, limit)  # `Superseded by **ADR-9**`
        target = _target(text, at, limit) or _target(text, _skip(_FILLER, text, at, limit), limit)

        while target is not None:
            yield Phrase(rel, target[0], target[1], target[2], Span(match.start(), match.end()))
            behind = _skip(_REMARK, text, target[2].end, limit)
            following = _skip(_GLUE if behind == target[2].end else _NEXT, text, behind, limit)
            if following == behind:
                break
            target = _target(text, following, limit)


def _ending_phrases(text: str, start: int, limit: int) -> Iterator[Phrase]:
    """Yield the phrases whose verb comes last:
    `durch ADR-9 ersetzt`, `被 ADR-9 取代`, `ADR-9 に置き換え`.
    """
    group: list[tuple[str, str, Span]] = []
    for match in _TARGET.finditer(text, start, limit):
        target = _target(text, match.start(), limit)
        before_it = text[match.start() - 1] if match.start() > start else ""
        if target is None or (_WORD_BEFORE.match(before_it) and not _CJK.match(before_it)):
            continue
        if group and _skip(_GLUE, text, group[-1][2].end, limit) != target[2].start:
            group = []

        group.append(target)

        for before, after, rel in _endings():
            verb = after.match(text, target[2].end, limit)
            first = group[0][2].start
            lead = (
                before.search(text, max(start, first - _LEAD), first)
                if before is not None
                else None
            )
            if verb is not None and (before is None or lead is not None):
                begin = lead.start() if lead is not None else first
                yield from (Phrase(rel, *member, Span(begin, verb.end())) for member in group)
                break


def _skip(pattern: re.Pattern[str], text: str, at: int, limit: int) -> int:
    match = pattern.match(text, at, limit)
    return match.end() if match else at


def _target(text: str, at: int, limit: int) -> tuple[str, str, Span] | None:
    """Return (target, text, span) of the link, id, number or file name at `at`."""
    match = _TARGET.match(text, at, limit)
    if match is None:
        return None

    span = Span(match.start(), match.end())
    if match["href"]:
        return match["href"], match["text"], span
    if match["wiki"]:
        wiki = match["wiki"].strip().removesuffix("\\")
        return wiki, (match["shown"] or wiki).strip(), span

    if match["bracket"]:
        bracket = match["bracket"].strip("`* ")
        if match["label"]:  # `[the new one][n]`: the caller resolves `n` in the document
            return match["label"].strip(), bracket, span
        return (bracket, bracket, span) if _ID_SHAPE.search(bracket) else None

    name = match["id"] or match["file"]
    name = name.rstrip(".")
    return name, name, span


def wiki_links(text: str, start: int, end: int) -> Iterator[tuple[str, str, Span]]:
    """Yield (target, text, span) of each `[[name]]` outside code in a line."""
    for match in _WIKI_LINK.finditer(text, start, end):
        target = _target(text, match.start(), end)
        if match["wiki"].strip("_ ").lower() == "toc":  # where a forge puts the list of contents
            continue

        if target is not None and text.count("`", start, match.start()) % 2 == 0:
            yield target


def find_targets(text: str, start: int, end: int) -> Iterator[tuple[str, str, Span]]:
    """Yield (target, text, span) of each decision in a list that fills `text[start:end]`."""
    at = _skip(_GLUE, text, start, end)
    target = _target(text, at, end)
    while target is not None:
        yield target
        target = _target(text, _skip(_GLUE, text, target[2].end, end), end)


def value_phrases(rel: Rel, text: str, start: int, end: int) -> Iterator[Phrase]:
    """Yield the decisions that the value of a key names, each as its remark limits it:
    `Supersedes: ADR-8 (in part), ADR-9`.
    """
    at = _skip(_OPENING_MARK, text, start, end)
    first = _skip(_GLUE, text, at, end)
    if _target(text, first, end) is None:  # `the queue of ADR-3`
        at = _skip(_FILLER, text, first, end)

    while at < end:
        targets = list(find_targets(text, at, end))
        if not targets:
            return

        verb = Span(at, at)  # a remark is about the decisions that it follows, not the next ones
        for name, label, span in targets:
            yield _limited(text, at, end, Phrase(rel, name, label, span, verb))
            at = span.end

        behind = _skip(_REMARK, text, at, end)
        following = _NEXT.match(text, behind, end)
        if following is None or _target(text, following.end(), end) is None:
            following = _FAR_NEXT.match(text, at, end)

        if following is None:
            return

        at = following.end()


def target_key(target: str) -> tuple[str, str | None]:
    """Return the number that a target names, else its name without suffix,
    and the file that it links to.
    """
    if "://" in target:
        return target.casefold(), None

    if target[:1] == "#" and target[1:].isdecimal():
        return target[1:].lstrip("0") or "0", None

    path = target.partition("#")[0].casefold()
    folder, _, base = path.rpartition("/")
    stem = base.removesuffix(".md").removesuffix(".markdown")
    file = None

    if stem != base:  # in folders `0042/README.md` the folder is the name
        file = "/".join(path.split("/")[-2:]) if stem in GENERIC_NAMES else base

    anchor = _NUMBER_OF_ANCHOR.search(target)
    if anchor:
        return anchor["number"], file

    number = _NUMBER_OF.match(stem)
    if number is None:
        return stem, file

    is_in_folder = folder and path[:1].isalpha() and "." not in path
    return f"{folder}/{number['number']}" if is_in_folder else number["number"], file
