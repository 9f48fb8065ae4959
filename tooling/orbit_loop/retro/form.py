"""Retro as a value, parsed from JSON, YAML or Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast

from orbit_loop.retro.failures import Target, read_target, target_from
from orbit_registry.errors import UsageError
from orbit_registry.formats.markdown import Document, Heading, parse_markdown
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.model.schema import RecordSchema, SchemaProblem, read_schema

_VERBS = {"stop": "Stop", "start": "Start"}
"""Words that an item makes no sense without: `merging on Fridays` below `Stop`."""


@cache
def _form() -> RecordSchema:
    return read_schema(Path(__file__).with_name("form.schema.json"))


@cache
def _parts() -> Mapping[str, str]:
    """Return the part of a retro that each heading begins."""
    parts: dict[str, str] = {}
    for name, form in _form().document["properties"].items():
        parts |= dict.fromkeys(form.get("headings", ()), name)

    return parts


def _with_form(definition: str) -> tuple[str, ...]:
    """Return the parts that have a form of the schema."""
    parts = _form().document["properties"].items()
    return tuple(name for name, form in parts if form.get("$ref") == f"#/$defs/{definition}")


@cache
def triggers() -> tuple[str, ...]:
    """Return what a retro may look back on."""
    return _with_form("run")


@cache
def text_parts() -> tuple[str, ...]:
    """Return the parts that are lists of texts."""
    return _with_form("texts")


def part_of(heading: str) -> str:
    """Return the part of a retro that a heading starts: `1.

    What didn't go well? 😕` is `struggled`.
    """
    return _parts().get(_words(heading), "")


def verb_of(heading: str) -> str:
    """Return the word to put before each item of a section: `Stop`, `Start` or none."""
    words = _words(heading).split() if part_of(heading) else []
    return next((_VERBS[word] for word in words if word in _VERBS), "")


def _words(heading: str) -> str:
    bare = re.sub(r"n['’]t\b", " not", heading.casefold())
    return re.sub(r"^\d+ (?=[^\W\d])", "", " ".join(re.findall(r"[^\W_]+", bare)))


COMPLETED, FAILED, REQUEUED = "completed", "failed", "requeued"
SHORTEST_FINDING = 20  # characters; a shorter finding ("works now") helps in no other task
LARGEST = 1_000_000
COMMAND_PURPOSE = "command"
"""Target type of the project's commands (`command:test`); their failures never block a target."""
_FORM = (
    'for example {"loop": "L-17", "outcomes": [{"target": "story:shop:S-1", "result": '
    '"failed", "attempts": 3}]}'
)
_OUTCOME = (
    "write it as TARGET=RESULT,attempts=N,tool=NAME,reason=WHY: story:shop:S-1=failed,attempts=3"
)
_DIGITS = 6
LONGEST_REASON = 2000
_ITEM = re.compile(r"[ \t]{0,3}(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one target: attempts (None if not counted), tools, and why it failed."""

    target: Target
    result: str
    attempts: int | None = None
    tools: tuple[str, ...] = ()
    reason: str = ""

    @property
    def came_to(self) -> str:
        """The result that counts: what was never tried did not fail."""
        if self.result == FAILED and self.attempts == 0:
            return "never tried"

        return self.result

    def as_data(self) -> dict[str, object]:
        """Return the outcome as a record's field."""
        optional = {
            "attempts": self.attempts,
            "tools": list(self.tools) or None,
            "reason": self.reason or None,
        }
        details = {name: value for name, value in optional.items() if value is not None}
        return {"target": self.target.as_data(), "result": self.result, **details}


@dataclass(frozen=True, slots=True)
class Retro:
    """Retro of a run; `text` is Markdown beyond the known parts."""

    trigger: Target | None = None
    date: str = ""
    title: str = ""
    summary: str = ""
    outcomes: tuple[Outcome, ...] = ()
    worked: tuple[str, ...] = ()
    struggled: tuple[str, ...] = ()
    durable_behavior: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    text: str = ""

    @property
    def findings(self) -> tuple[tuple[str, str], ...]:
        """Findings worth a learning, each with its label."""
        labels: dict[str, str] = dict.fromkeys(self.durable_behavior, "durable")
        for label, texts in (("worked", self.worked), ("struggled", self.struggled)):
            for text in texts:
                labels.setdefault(text, label)

        return tuple(
            (label, text) for text, label in labels.items() if len(text) >= SHORTEST_FINDING
        )

    def noise(self, fewest_targets: int) -> str:
        """Return why the retro is not worth recording; empty if it is."""
        if self.findings:
            return ""

        longest = max(map(len, self.recommendations), default=0)
        if longest >= SHORTEST_FINDING or (
            longest and self.struggled
        ):  # `CI slow`, `cache it`: short but useful
            return ""

        if any(
            outcome.result == FAILED or (outcome.attempts or 0) > 1 for outcome in self.outcomes
        ):
            return ""

        tried = len({outcome.target for outcome in self.outcomes if outcome.attempts != 0})
        if tried >= fewest_targets:
            return ""

        lacking = "none failed or tried twice, no finding or advice of a sentence's length"
        return f"{tried} of {fewest_targets} targets, {lacking}"

    def joined(self, more: Retro) -> Retro:
        """Merge with a later retro: its outcomes and texts win, lists are united."""
        outcomes = {outcome.target: outcome for outcome in (*self.outcomes, *more.outcomes)}
        lists = {
            name: _merge_texts(getattr(self, name), getattr(more, name)) for name in text_parts()
        }
        text = self.text
        if more.text not in self.text:
            text = "\n\n".join(filter(None, (self.text, more.text)))

        return replace(
            self,
            trigger=self.trigger or more.trigger,
            date=self.date if self.date.startswith(more.date) else more.date,
            title=more.title or self.title,
            summary=more.summary or self.summary,
            outcomes=tuple(outcomes.values()),
            text=text,
            **lists,
        )

    def body(self) -> str:
        """Return the Markdown for what no field of the record holds."""
        parts = [f"# {self.title}"]
        for name, form in _form().document["properties"].items():
            texts = getattr(self, name) if "heading" in form else ()
            if texts:
                lines = "\n".join(f"- {text}" for text in texts)
                parts.append(f"## {form['heading']}\n\n{lines}")

        if self.text:
            parts.append(self.text)

        return "\n\n".join(parts) + "\n"


def outcome_from(value: object) -> Outcome:
    """Return an outcome that is a text, or a mapping with the names of its fields."""
    if isinstance(value, str):
        return read_outcome(value)

    _refuse_other_form({"outcomes": [value]}, "an outcome")
    return _outcome(cast("Mapping[str, Any]", value))


def recorded_outcome(fields: Mapping[str, Any]) -> Outcome:
    """Return an outcome in a record's field."""
    return Outcome(
        target_from(fields.get("target")),
        str(fields.get("result")),
        fields.get("attempts"),
        tuple(map(str, fields.get("tools", ()))),
        str(fields.get("reason", "")),
    )


def read_outcome(text: str, where: str = "--outcome") -> Outcome:
    """Parse `TARGET=RESULT,attempts=N,…`; `where` names the source in errors."""
    name, _, details = text.partition("=")
    words, _, reason = details.partition(",reason=")
    result, *more = words.split(",")
    data: dict[str, Any] = {"target": name, "result": result, "reason": reason, "tools": []}
    valid = bool(name and result)

    for word in more:
        key, _, value = word.partition("=")
        if key == "tool" and value:
            data["tools"].append(value)
        elif key == "attempts" and value.isdecimal() and len(value) <= _DIGITS:
            data["attempts"] = int(value)
        else:
            valid = False

    if not valid:
        raise UsageError(f"{where}: {text[:100]!r} is not an outcome", hint=_OUTCOME)

    _refuse_other_form({"outcomes": [data]}, where)
    return _outcome(data)


def read_retro(text: str, where: str) -> Retro:
    """Parse a retro from JSON, YAML or Markdown; `where` names the source in errors."""
    if len(text) > LARGEST:
        raise UsageError(
            f"{where}: a retro has at most {LARGEST:,} characters", hint="say what it came to"
        )
    if not text.lstrip().startswith("{"):
        return _from_markdown(parse_markdown(text), where)
    return _from_data(_mapping(text, where), where)


def _mapping(text: str, where: str) -> Mapping[str, Any]:
    try:
        data = load(text)
    except YamlProblemError as error:
        raise UsageError(error.problem.at(where), hint=error.problem.hint or _FORM) from None
    if not isinstance(data, dict):
        raise UsageError(f"{where}: this is not a retro", hint=_FORM)
    return data


def _from_data(data: Mapping[str, Any], where: str) -> Retro:
    _refuse_other_form(data, where)
    lists: dict[str, Any] = {name: _texts(data.get(name)) for name in text_parts()}
    retro = Retro(
        trigger=_trigger(data, where),
        date=_line(data.get("date")),
        title=_line(data.get("title")),
        summary=_line(data.get("summary")),
        outcomes=tuple(map(_outcome, data.get("outcomes") or ())),
        **lists,
    )
    text = str(data.get("text") or "").strip()
    if not text:
        return retro

    text = text if text.startswith("## ") else f"## Notes\n\n{text}"
    return retro.joined(_from_markdown(parse_markdown(text), where))


def _refuse_other_form(data: Mapping[str, Any], where: str) -> None:
    """Raise for what `form.schema.json` does not admit."""
    problems = _form().problems(_without_nothing(data))
    if problems:
        message = problems[0].message.replace("`the record`", "a retro")
        raise UsageError(
            f"{where}: {_of_outcome(data, problems[0], message)}", hint=problems[0].hint or _FORM
        )


def _of_outcome(data: Mapping[str, Any], problem: SchemaProblem, message: str) -> str:
    """Return a message that names the outcome that it is about, rather than its index."""
    if len(problem.pointer) < 2 or problem.pointer[0] != "outcomes":
        return message

    outcomes, number = data["outcomes"], int(problem.pointer[1])
    entry = outcomes[number]
    target = entry.get("target") if isinstance(entry, Mapping) else None
    field = message.replace(f"`outcomes.{number}`", "it").replace(f"`outcomes.{number}.", "`")
    if target:
        return f"{target if isinstance(target, str) else target_from(target)}: {field}"

    if len(outcomes) == 1:
        return field

    return f"outcome {number + 1}: {field}"


def _without_nothing(value: Any) -> Any:
    """Return a value without members that have none: an empty key of YAML, an option left out."""
    if isinstance(value, list):
        return list(map(_without_nothing, value))
    if not isinstance(value, Mapping):
        return value
    return {key: _without_nothing(part) for key, part in value.items() if part is not None}


def _trigger(data: Mapping[str, Any], where: str) -> Target | None:
    runs = [(name, str(data[name])) for name in triggers() if data.get(name) not in (None, "")]
    project = str(data.get("project") or "")
    if data.get("trigger"):
        target = target_from(data["trigger"])
        runs.append((target.type, target.id))
        project = project or target.project

    if len(runs) > 1:
        hint = f"name one of {', '.join(triggers())}"
        raise UsageError(f"{where}: it looks back on more than one thing", hint=hint)

    if runs:
        return trigger_of(*runs[0], project)

    return None


def trigger_of(kind: str, name: str, project: str = "") -> Target:
    """Return the run that a retro is about."""
    if kind not in triggers():
        hint = f"it is of one of {', '.join(triggers())}"
        raise UsageError(f"a retro is of no {kind[:80]!r}", hint=hint)
    return read_target(":".join(filter(None, (kind, project, name))))


def _outcome(data: Mapping[str, Any]) -> Outcome:
    target = data["target"]
    if not isinstance(target, str):
        target = str(target_from(target))

    tools = _texts(data.get("tools") or data.get("tool"))
    reason = _line(data.get("reason"))[:LONGEST_REASON]
    return Outcome(read_target(target), data["result"], data.get("attempts"), tools, reason)


def _line(value: object) -> str:
    return " ".join(str(value or "").split())


def _texts(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    return _merge_texts((), map(_line, listed))


def _merge_texts(current: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    by_letters = {
        text.casefold(): text for text in (*reversed([*more]), *reversed([*current])) if text
    }
    return tuple(reversed(by_letters.values()))


def _from_markdown(document: Document, where: str) -> Retro:
    front = document.front_matter
    if front is not None:
        data = dict(_mapping(document.text[front.start : front.end], where))
    else:
        data = {}

    fields = {
        name: value for name, value in data.items() if name in _form().properties
    }  # other front matter is ignored
    notes: list[str] = []

    for heading, section, body in _sections(document):
        name = part_of(heading)
        if name == "summary":
            fields["summary"] = fields.get("summary") or body
        elif name == "outcomes":
            fields["outcomes"] = [*(fields.get("outcomes") or []), *_rows(document, section, where)]
        elif name:
            verb = verb_of(heading)
            fields[name] = [
                *(fields.get(name) or []),
                *(_with_verb(verb, item) for item in _items(body)),
            ]
        elif section.level == 1 and section is document.headings[0]:
            fields["title"] = fields.get("title") or heading
            fields["summary"] = fields.get("summary") or body
        elif heading.casefold().startswith("step"):
            title = f"## What {heading[0].lower()}{heading[1:]} came to"
            notes += [f"{title}\n\n{result}" for result in _results(document, section)]
        elif body:
            notes.append(f"## {heading}\n\n{body}")

    return replace(_from_data(fields, where), text="\n\n".join(notes))


def _sections(document: Document) -> Iterator[tuple[str, Heading, str]]:
    has_parts_below = any(
        heading.level == 3 and part_of(heading.text) for heading in document.headings
    )
    headings = [
        heading for heading in document.headings if heading.level <= (3 if has_parts_below else 2)
    ]
    for heading, following in zip_longest(headings, headings[1:]):
        end = following.section.start if following is not None else heading.body.end
        yield heading.text, heading, document.text[heading.body.start : end].strip()


def _with_verb(verb: str, item: str) -> str:
    if not verb or item.casefold().startswith(verb.casefold()):
        return item

    return f"{verb}: {item}"


def _results(document: Document, step: Heading) -> list[str]:
    within = (
        heading
        for heading in document.headings
        if step.body.start <= heading.section.start < step.body.end
    )
    results = (heading for heading in within if heading.text.casefold().strip(" :") == "result")
    return [
        text
        for heading in results
        if (text := document.text[heading.body.start : heading.body.end].strip())
    ]


def _rows(document: Document, section: Heading, where: str) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = []
    tables = [
        table
        for table in document.tables
        if section.body.start <= table.span.start < section.body.end
    ]
    for table in tables:
        names = [cell.text.casefold().strip() for cell in table.rows[0]]
        for row in table.rows[1:]:
            cells: dict[str, Any] = {
                name: cell.text.strip() for name, cell in zip(names, row, strict=False)
            }
            count, tools = cells.get("attempts", ""), cells.get("tools", "")
            if count.isdecimal() and len(count) <= _DIGITS:
                cells["attempts"] = int(count)
            else:
                cells["attempts"] = count or None

            words = map(str.strip, tools.split(","))
            cells["tools"] = list(filter(None, words))
            cells["target"] = cells.get("target", cells.get("story"))

            rows.append(cells)

    if not tables:
        body = document.text[section.body.start : section.body.end]
        outcomes = (read_outcome(item, f"{where}: {section.text}") for item in _items(body))
        rows = [{**outcome.as_data(), "target": str(outcome.target)} for outcome in outcomes]

    return rows


def _items(body: str) -> list[str]:
    items: list[list[str]] = []
    in_list = any(_ITEM.match(line) for line in body.splitlines())
    fresh = True
    for line in body.splitlines():
        begins = _ITEM.match(line)
        if begins:
            items.append([line[begins.end() :]])
        elif line.strip() and items and not (fresh and not in_list):
            items[-1].append(line)
        elif line.strip() and not in_list:
            items.append([line])

        fresh = not line.strip()

    return [" ".join(" ".join(parts).split()) for parts in items]
