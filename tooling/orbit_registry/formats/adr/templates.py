"""New ADR documents from templates with `$id $title $status $date …`,
and templates from existing ADRs.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from string import Template

from orbit_registry.formats.adr.front_matter import read_fields, scalar
from orbit_registry.formats.adr.headings import fields_span, heading_value
from orbit_registry.formats.adr.model import AdrDocument, Section
from orbit_registry.formats.adr.reader import read_document
from orbit_registry.formats.adr.status_line import read_statement
from orbit_registry.formats.adr.vocabulary import PROMPTS, field_of
from orbit_registry.formats.adr.writer import heading_title, newline_of
from orbit_registry.formats.markdown import Document, parse_markdown
from orbit_registry.formats.position import Span

_PLACEHOLDERS = {
    name: f"${name}" for name in ("title", "status", "date", "deciders", "tags", "tasks")
}
_DIGITS = re.compile(r"\d{1,9}")
_YAML_VALUE = re.compile(
    r"^(?P<head>[^\s:#][^:\r\n]{0,80}:[ \t]+)(?P<value>[^\r\n]+)", re.MULTILINE
)
_DAY = re.compile(r"(?:19|20)\d\d-\d\d-\d\d(?![\w-])|(?:19|20)\d\d-\d\d-\d\dT")
_CHANGED = re.compile(r"update|modif|change|edit|revis", re.IGNORECASE)
_HEADING_NUMBER = re.compile(r"\d{1,2}(?=[.)][ \t])")
_AT_THE_END = re.compile(r"(?<=\S)[ \t]+\$\{?(?P<name>[a-z_]+)\}?(?=[ \t]*\r?$)", re.MULTILINE)
"""A placeholder at the end of a line; without a value the line keeps no blank there."""
_OPTIONAL = re.compile(r"(?: · |, )\$\{?(?P<name>[a-z_]+)\}?")


def new_document(template: str, fields: Mapping[str, str]) -> str:
    """Return the template with `$name` replaced; names without a value stay, line ends follow the
    template.

    `$number` and `$order` (the number without zeros) default to those of `id`. An empty value
    removes the ` · ` or `, ` before it. Values in a front matter are quoted where YAML needs it,
    and a title is escaped where Markdown does.
    """
    newline = newline_of(template)
    values = {name: newline.join(value.splitlines()) for name, value in fields.items()}
    digits = _DIGITS.search(values.get("number") or values.get("id") or "")
    if digits:
        values.setdefault("number", digits.group())
        values.setdefault("order", str(int(digits.group())))

    filled = _OPTIONAL.sub(
        lambda match: "" if values.get(match["name"]) == "" else match.group(), template
    )
    filled = _AT_THE_END.sub(
        lambda match: "" if values.get(match["name"]) == "" else match.group(), filled
    )
    span = parse_markdown(filled).front_matter
    head, body = (filled[: span.end], filled[span.end :]) if span else ("", filled)

    head = _YAML_VALUE.sub(lambda match: _yaml(match, values), head)
    if "title" in values:
        values["title"] = heading_title(values["title"])

    return head + Template(body).safe_substitute(values)


def _yaml(match: re.Match[str], values: Mapping[str, str]) -> str:
    pattern = match["value"]
    if pattern.strip() in ("$number", "$order", "$date"):  # as bare as the template has them
        return match["head"] + Template(pattern).safe_substitute(values)
    if not pattern.lstrip().startswith(("[", "{", "'", '"')) and "$" in pattern:
        filled = Template(pattern).safe_substitute(values)
        return match["head"] + (scalar(" ".join(filled.split())) if filled.strip() else "")

    flat = {
        name: " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')
        for name, value in values.items()
    }
    return match["head"] + Template(pattern).safe_substitute(
        flat if pattern.startswith('"') else values
    )


def template_from(text: str, path: str) -> str | None:
    """Return a template like the text's last ADR: its header and headings, with prompts for prose;
    None without one.
    """
    file = read_document(text, path)
    if not file.entries:
        return None

    entry = file.entries[-1]
    document = parse_markdown(text)
    newline = newline_of(text)
    blocks = [_heading(text, entry), *_header(document, entry), *_sections(text, entry, newline)]
    body = (newline * 2).join(block for block in blocks if block) + newline

    return (_front_matter(document, entry, newline) if file.format == "file" else "") + body


def _literal(text: str) -> str:
    return text.replace("$", "$$")


def _front_matter(document: Document, entry: AdrDocument, newline: str) -> str:
    span = fields_span(document)
    text = document.text
    fields = read_fields(text, span) if span is not None else ()
    if not fields:
        return ""

    lines: list[str] = []
    for field in fields:
        key = (
            "status" if field.span == entry.status_span else field_of(field.key)
        )  # `stage:` may state it
        head = text[field.line.start : field.span.start].rstrip(" ")
        raw = field.span.of(text)
        if key == "number":
            quote = raw[:1] if raw[:1] in ("'", '"') else ""
            prefix = field.value.rstrip("0123456789")
            lines.append(f"{head} {quote}{_literal(prefix)}$number{quote}")
        elif key in _PLACEHOLDERS:
            value = _PLACEHOLDERS[key]
            lines.append(
                f"{head} [{value}]" if raw.startswith("[") or "\n" in raw else f"{head} {value}"
            )
        elif key is None and _DAY.match(
            field.value
        ):  # of the other decision, but for the day of the last change
            lines.append(f"{head} $date" if _CHANGED.search(field.key) else head)
        elif key is None and "://" in field.value and "\n" not in raw.rstrip():
            lines.append(_literal(head))  # a page of the other decision
        elif key is None and "\n" not in raw.rstrip() and not _same_number(field.value, entry):
            lines.append(_literal(f"{head} {raw}".rstrip()))
        elif key is None and _same_number(field.value, entry):
            lines.append(f"{head} {'$number' if field.value == entry.number else '$order'}")

    if document.front_matter is None:  # a code block
        return newline.join(
            [text[document.content_start : fields[0].line.start].rstrip(), *lines, "```", "", ""]
        )

    return newline.join(["---", *lines, "---", "", ""])


def _same_number(value: str, entry: AdrDocument) -> bool:
    number = entry.number or ""
    return value.isdigit() and number.isdigit() and int(value) == int(number)


def _heading(text: str, entry: AdrDocument) -> str:
    if entry.heading_span is None:
        is_below_code = (
            entry.sections
            and entry.sections[0].key == "metadata"
            and entry.format == "front-matter"
        )
        if is_below_code:
            return ""

        return "# $title"

    edits = [(span, "$title") for span in entry.title_spans]
    for span in entry.number_spans:
        edits.append((span, "$number" if span.of(text) == entry.number else "$order"))

    heading = entry.heading_span
    edits = [edit for edit in edits if heading.start <= edit[0].start < heading.end]
    if entry.anchor:
        anchor = text.find("{", max(span.end for span, _ in edits)) if edits else -1
        if anchor >= 0:
            edits.append((Span(anchor, heading.end), ""))

    below = any(heading.end <= span.start < span.end for span in entry.title_spans)
    line = _edited(text, heading, edits).rstrip()
    if not below:
        return line

    between = text[heading.end : entry.title_spans[-1].start].strip()  # `## Title`, or nothing
    parts = (line, _literal(between), "$title")
    return (newline_of(text) * 2).join(filter(None, parts))


def _header(document: Document, entry: AdrDocument) -> Iterator[str]:
    text, lines = document.text, document.lines
    edits: list[tuple[Span, str]] = []
    line_numbers: set[int] = set()
    in_front = any(fact.key == "status" and fact.style == "front-matter" for fact in entry.facts)

    for fact in entry.facts:
        if fact.style in ("front-matter", "section", "badge"):
            continue

        if fact.key == "statement" and in_front:
            edits.append((fact.span, ""))  # the front matter states it
            continue
        elif fact.key == "statement":
            keys = [
                part.key for part in read_statement(text, fact.span, "line")
            ]  # split like the old one
            parts = ["$status", *(f"${key}" for key in ("date", "tasks") if key in keys)]
            edits.append((fact.span, " · ".join(parts)))
        elif fact.key in _PLACEHOLDERS and fact.key not in ("status", "tasks", "title"):
            edits.append((fact.span, _PLACEHOLDERS[fact.key]))
        elif fact.style == "table" and fact.key not in ("status", "title"):
            edits.append((fact.span, ""))
        else:
            continue

        tables = (table.span for table in document.tables if fact.style == "table")
        around = next(
            (span for span in tables if span.start <= fact.span.start < span.end), fact.span
        )
        line_numbers.update(range(lines.index_of(around.start), lines.index_of(around.end) + 1))

    for number in sorted(line_numbers):
        if number - 1 not in line_numbers:
            start = lines.starts[number]
        if number + 1 not in line_numbers:
            yield _edited(text, Span(start, lines.ends[number]), edits).rstrip()


def _sections(text: str, entry: AdrDocument, newline: str) -> Iterator[str]:
    prompts = {**PROMPTS, "status": "$status", "date": "$date", "changelog": "- $date: first draft"}
    sections = [section for section in entry.sections if section.key in prompts]
    if not any(section.key in ("context", "decision") for section in sections):
        sections = list(entry.sections)

    visited: set[tuple[str, int]] = set()
    counts: Counter[int] = Counter()
    for index, section in enumerate(sections):
        if (section.key, section.level) in visited and section.key != "other":
            continue

        visited.add((section.key, section.level))
        following = sections[index + 1] if index + 1 < len(sections) else None
        has_parts = following is not None and not section.run_in and following.level > section.level
        prompt = "" if has_parts else newline.join(prompts.get(section.key, "…").splitlines())

        if section.run_in:
            start = text.rfind("\n", 0, section.body.start) + 1
            gap = newline * (2 if prompt.startswith("- ") else 0)
            yield _literal(text[start : section.body.start].rstrip()) + (gap or " ") + prompt
        elif (value := heading_value(section.heading)) is not None:  # `## Status: Accepted`
            yield (
                f"{'#' * section.level} "
                f"{_literal(section.heading[: value[1]])}{_PLACEHOLDERS[value[0]]}"
            )
        else:
            heading = f"{'#' * section.level} {_literal(_renumbered(section, counts))}"
            yield heading + (newline * 2 + prompt if prompt else "")


def _renumbered(section: Section, counts: Counter[int]) -> str:
    numbered = _HEADING_NUMBER.match(section.heading)
    if numbered is None:
        return section.heading
    counts[section.level] += 1
    return f"{counts[section.level]}{section.heading[numbered.end() :]}"


def _edited(text: str, span: Span, edits: Sequence[tuple[Span, str]]) -> str:
    """Return the span of the text with edits made, none inside an earlier one,
    and every other `$` doubled.
    """
    parts: list[str] = []
    at = span.start
    for edit, replacement in sorted(edits, key=lambda edit: (edit[0].start, -edit[0].end)):
        if at <= edit.start < span.end:
            parts.extend((_literal(text[at : edit.start]), replacement))
            at = edit.end

    return "".join([*parts, _literal(text[at : span.end])])
