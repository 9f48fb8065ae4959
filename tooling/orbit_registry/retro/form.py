"""What somebody says of a run when it is over, as a value: read from JSON or Markdown, joined, weighed; writes nothing.

Only what a step came to is taken from its section: how it went there is the transcript's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orbit_registry.errors import UsageError
from orbit_registry.formats.markdown import Document, Heading, parse_markdown
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.retro.failures import Target, read_target, target_from

_PARTS = {
    "summary": ("summary", "what happened"),
    "outcomes": ("outcomes", "story outcomes", "targets"),
    "worked": (
        "worked", "what worked", "what worked well", "went well", "what went well", "what went right", "what was good",
        "good", "wins", "successes", "keep", "keep doing", "continue", "continue doing", "what to keep",
        "what should we keep", "what should we keep doing", "what should we continue doing", "liked", "glad",
    ),
    "struggled": (
        "struggled", "what struggled", "what did not work", "went badly", "what went badly",
        "went wrong", "what went wrong", "what went poorly", "what did not go well",
        "what went less well", "what could have gone better", "what was bad", "bad", "problems", "sad", "mad",
    ),
    "durable_behavior": (
        "durable behavior", "durable behaviour", "from now on", "codebase patterns", "lessons", "lessons learned",
        "lessons learnt", "what we learned", "what we learnt", "what did we learn", "learned", "learnings", "takeaways",
        "key takeaways",
    ),
    "recommendations": (
        "recommendations", "action items", "actions", "action plan", "next steps", "follow up", "follow ups",
        "what could be better", "what could be improved", "what can be improved", "what should we improve",
        "what to improve", "improve", "improvements", "to improve",
        "stop", "stop doing", "what should we stop doing", "what to stop",
        "start", "start doing", "what should we start doing", "what to start",
    ),
}  # fmt: skip
_PART_OF = {heading: part for part, headings in _PARTS.items() for heading in headings}
_VERBS = {"stop": "Stop", "start": "Start"}
"""Words that an item loses its sense without: `merging on Fridays` below `Stop`."""


def part_of(heading: str) -> str:
    """Return the part that a heading begins, such as `worked`; empty where it is of none.

    Case, pictures, marks and a number in front count for nothing: `1. What didn't go well? 😕` is `struggled`.
    """
    return _PART_OF.get(_words(heading), "")


def verb_of(heading: str) -> str:
    """Return the word that has to stand before each item of a section: `Stop`, `Start`, or none."""
    words = _words(heading).split() if part_of(heading) else []
    return next((_VERBS[word] for word in words if word in _VERBS), "")


def _words(heading: str) -> str:
    bare = re.sub(r"n['’]t\b", " not", heading.casefold())
    return re.sub(r"^\d+ (?=[^\W\d])", "", " ".join(re.findall(r"[^\W_]+", bare)))


TRIGGERS = ("loop", "session", "incident")
COMPLETED, FAILED, SKIPPED, REQUEUED = RESULTS = ("completed", "failed", "skipped", "requeued")
SHORTEST_FINDING = 20
"""Characters; what is shorter ("works now") helps nobody in another task."""
LARGEST = 1_000_000
WAY = "command"
"""The type of a purpose of the project's commands (`command:test`): that one failed is no reason to leave it alone."""
_LISTS = ("worked", "struggled", "durable_behavior", "recommendations")
_KNOWN = (*TRIGGERS, "trigger", "project", "date", "title", "summary", "outcomes", *_LISTS, "text")
_FORM = 'for example {"loop": "L-17", "outcomes": [{"target": "story:shop:S-1", "result": "failed", "attempts": 3}]}'
_OUTCOME = "write it as TARGET=RESULT,attempts=N,tool=NAME,reason=WHY: story:shop:S-1=failed,attempts=3"
_DIGITS = 6
_ITEM = re.compile(r"[ \t]{0,3}(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one target: how often it was tried (None: nobody counted), with which tools, why it failed."""

    target: Target
    result: str
    attempts: int | None = None
    tools: tuple[str, ...] = ()
    reason: str = ""

    def as_data(self) -> dict[str, object]:
        """Return it as a record holds it."""
        said = {"attempts": self.attempts, "tools": list(self.tools) or None, "reason": self.reason or None}
        return {
            "target": self.target.as_data(),
            "result": self.result,
            **{name: value for name, value in said.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class Retro:
    """What somebody says of a run; `text` is Markdown beyond what worked and what struggled."""

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
        """What is worth a learning of its own, each with the word for where it stood."""
        lists = (("durable", self.durable_behavior), ("worked", self.worked), ("struggled", self.struggled))
        found: dict[str, str] = {}
        for word, texts in lists:
            for said in texts:
                if len(said) >= SHORTEST_FINDING:
                    found.setdefault(said, word)
        return tuple((word, said) for said, word in found.items())

    def noise(self, fewest_targets: int) -> str:
        """Return why it is not worth keeping; empty where it is."""
        if self.findings:
            return ""
        longest = max(map(len, self.recommendations), default=0)
        if longest >= SHORTEST_FINDING or (longest and self.struggled):  # `CI slow`, `cache it`: short, but no noise
            return ""
        if any(one.result == FAILED or (one.attempts or 0) > 1 for one in self.outcomes):
            return ""
        tried = len({one.target for one in self.outcomes if one.attempts != 0})
        if tried >= fewest_targets:
            return ""
        lacking = "none failed or tried twice, no finding or advice of a sentence's length"
        return f"{tried} of {fewest_targets} targets, {lacking}"

    def joined(self, more: Retro) -> Retro:
        """Return both: of a target the later outcome, lists with what they lacked, texts where there were none."""
        outcomes = {one.target: one for one in (*self.outcomes, *more.outcomes)}
        lists = {name: _joined(getattr(self, name), getattr(more, name)) for name in _LISTS}
        new_text = more.text and more.text not in self.text
        return replace(
            self,
            trigger=self.trigger or more.trigger,
            date=self.date if self.date.startswith(more.date) else more.date,
            title=more.title or self.title,
            summary=more.summary or self.summary,
            outcomes=tuple(outcomes.values()),
            text="\n\n".join(filter(None, (self.text, more.text))) if new_text else self.text,
            **lists,
        )

    def body(self) -> str:
        """Return the Markdown that stands beside the record: what no field of the record holds."""
        parts = [f"# {self.title}"]
        for heading, texts in (("What worked", self.worked), ("What struggled", self.struggled)):
            if texts:
                parts.append(f"## {heading}\n\n" + "\n".join(f"- {one}" for one in texts))
        return "\n\n".join([*parts, *([self.text] if self.text else [])]) + "\n"


def read_outcome(said: str, where: str = "--outcome") -> Outcome:
    """Return the outcome that a word says, of the command line or of a list; `where` names its place in errors.

    Raises:
        UsageError: it says none.
    """
    name, _, rest = said.partition("=")
    words, told, why = rest.partition(",reason=")
    result, *more = words.split(",")
    data: dict[str, Any] = {"target": name, "result": result, **({"reason": why} if told else {})}
    for word in more:
        key, _, value = word.partition("=")
        if key == "tool" and value:
            data["tools"] = [*data.get("tools", ()), value]
        elif key == "attempts" and value.isdecimal() and len(value) <= _DIGITS:
            data["attempts"] = int(value)
        else:
            raise UsageError(f"{where}: {said[:100]!r} is no outcome", hint=_OUTCOME)
    if not name or not result:
        raise UsageError(f"{where}: {said[:100]!r} is no outcome", hint=_OUTCOME)
    return _outcome(data, where)


def read_retro(text: str, where: str) -> Retro:
    """Return the retro in a text: JSON or YAML where it is a mapping, else Markdown; `where` names it in errors.

    Raises:
        UsageError: it is too large, or says what can't be.
    """
    if len(text) > LARGEST:
        raise UsageError(f"{where}: a retro has at most {LARGEST:,} characters", hint="say what it came to")
    if not text.lstrip().startswith("{"):
        return _from_markdown(parse_markdown(text), where)
    return _from_data(_mapping(text, where), where)


def _mapping(text: str, where: str) -> Mapping[str, Any]:
    try:
        data = load(text)
    except YamlProblemError as error:
        place = error.problem.position
        at = f"{where}:{place.line}:{place.column}" if place is not None else where
        raise UsageError(f"{at}: {error.problem.message}", hint=error.problem.hint or _FORM) from None
    if not isinstance(data, dict):
        raise UsageError(f"{where}: this is no retro", hint=_FORM)
    return data


def _from_data(data: Mapping[str, Any], where: str) -> Retro:
    unknown = sorted(set(data) - set(_KNOWN))
    if unknown:
        raise UsageError(f"{where}: `{unknown[0][:80]}` is not known", hint=f"known are {', '.join(_KNOWN)}")
    outcomes = data.get("outcomes") or []
    if not isinstance(outcomes, list):
        raise UsageError(f"{where}: `outcomes` is not a list", hint=_FORM)
    words: dict[str, Any] = {name: _line(data.get(name), name, where) for name in ("date", "title", "summary")}
    words |= {name: _texts(data.get(name), name, where) for name in _LISTS}
    found = Retro(
        trigger=_trigger(data, where),
        outcomes=tuple(_outcome(one, f"{where}: outcome {place}") for place, one in enumerate(outcomes, 1)),
        **words,
    )
    text = str(data.get("text") or "").strip()
    if not text:
        return found
    return found.joined(
        _from_markdown(parse_markdown(text if text.startswith("## ") else f"## Notes\n\n{text}"), where)
    )


def _trigger(data: Mapping[str, Any], where: str) -> Target | None:
    named = [(name, str(data[name])) for name in TRIGGERS if data.get(name) not in (None, "")]
    if "trigger" in data and data["trigger"] is not None:
        target = target_from(data["trigger"])
        named.append((target.type, target.id))
        data = {"project": target.project, **data}
    if len(named) > 1:
        raise UsageError(f"{where}: it looks back on more than one thing", hint=f"name one of {', '.join(TRIGGERS)}")
    return trigger_of(*named[0], str(data.get("project") or "")) if named else None


def trigger_of(kind: str, name: str, project: str = "") -> Target:
    """Return what a retro looks back on.

    Raises:
        UsageError: no run is called so.
    """
    if kind not in TRIGGERS:
        raise UsageError(f"a retro is of no {kind[:80]!r}", hint=f"it is of one of {', '.join(TRIGGERS)}")
    return read_target(":".join(filter(None, (kind, project, name))))


def _outcome(value: object, where: str) -> Outcome:
    data: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    target, result, attempts = data.get("target"), data.get("result"), data.get("attempts")
    if target is None or result not in RESULTS:
        hint = f"it has a `target` and as `result` one of {', '.join(RESULTS)}"
        raise UsageError(f"{where}: {str(result)[:80]!r} is no result", hint=hint)
    if attempts is not None and (not isinstance(attempts, int) or isinstance(attempts, bool) or attempts < 0):
        raise UsageError(f"{where}: `attempts` is {str(attempts)[:80]!r}", hint="a whole number; 0: never tried")
    named = read_target(target) if isinstance(target, str) else target_from(target)
    read_target(str(named))  # what a mapping states has to be one too
    tools = data.get("tools", data.get("tool"))
    listed = [tools] if isinstance(tools, str) else tools or []
    if not isinstance(listed, list):
        raise UsageError(f"{where}: `tools` is no list of names", hint='"tools": ["codex"]')
    reason = " ".join(str(data.get("reason") or "").split())
    return Outcome(named, str(result), attempts, tuple(dict.fromkeys(map(str, listed))), reason[:2000])


def _line(value: object, name: str, where: str) -> str:
    if isinstance(value, (list, dict)):
        raise UsageError(f"{where}: `{name}` is no text", hint=_FORM)
    return " ".join(str(value or "").split())


def _texts(value: object, name: str, where: str) -> tuple[str, ...]:
    listed: list[Any] = value if isinstance(value, list) else [] if value is None else [value]
    if any(not isinstance(one, str) for one in listed):
        raise UsageError(f"{where}: `{name}` is not a list of texts", hint=_FORM)
    return _joined((), (" ".join(one.split()) for one in listed))


def _joined(held: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    """Return texts and those that they lack, told by their letters."""
    found = {one.casefold(): one for one in (*reversed([*more]), *reversed([*held])) if one}
    return tuple(reversed(found.values()))


def _from_markdown(document: Document, where: str) -> Retro:
    front = document.front_matter
    data = dict(_mapping(document.text[front.start : front.end], where)) if front is not None else {}
    known = {name: value for name, value in data.items() if name in _KNOWN}  # what else is in front is not ours
    rest: list[str] = []
    for heading, whole, body in _sections(document):
        name = part_of(heading)
        if name == "summary":
            known["summary"] = known.get("summary") or body
        elif name == "outcomes":
            known["outcomes"] = [*(known.get("outcomes") or []), *_rows(document, whole, where)]
        elif name:
            verb = verb_of(heading)
            known[name] = [*(known.get(name) or []), *(_after(verb, one) for one in _items(body))]
        elif whole.level == 1 and whole is document.headings[0]:
            known["title"] = known.get("title") or heading
            known["summary"] = known.get("summary") or body
        elif heading.casefold().startswith("step"):
            rest += [
                f"## What {heading[0].lower()}{heading[1:]} came to\n\n{said}" for said in _results(document, whole)
            ]
        elif body:
            rest.append(f"## {heading}\n\n{body}")
    return replace(_from_data(known, where), text="\n\n".join(rest))


def _sections(document: Document) -> Iterable[tuple[str, Heading, str]]:
    """Yield each heading of the first two levels with its own text: up to the next heading, but for steps.

    Below one that is no step, those of the third level too, where one of them begins a part: `### What went well`.
    """
    told = {one.section for above in document.headings for one in _parts_below(document, above)}
    found = [one for one in document.headings if one.level <= 2 or one.section in told]
    for place, heading in enumerate(found):
        end = min((one.section.start for one in found[place + 1 :]), default=heading.body.end)
        yield heading.text, heading, document.text[heading.body.start : min(end, heading.body.end)].strip()


def _parts_below(document: Document, above: Heading) -> Sequence[Heading]:
    """Return the headings of the third level below one of the first two, where one of them begins a part."""
    if above.level > 2 or above.text.casefold().startswith("step"):
        return ()
    following = (
        one.section.start for one in document.headings if one.level <= 2 and one.section.start > above.body.start
    )
    end = min(following, default=above.body.end)
    below = [one for one in document.headings if one.level == 3 and above.body.start <= one.section.start < end]
    return below if any(part_of(one.text) for one in below) else ()


def _after(verb: str, said: str) -> str:
    return said if not verb or said.casefold().startswith(verb.casefold()) else f"{verb}: {said}"


def _results(document: Document, step: Heading) -> Sequence[str]:
    within = (one for one in document.headings if step.body.start <= one.section.start < step.body.end)
    results = (one for one in within if one.text.casefold().strip(" :") == "result")
    return [said for one in results if (said := document.text[one.body.start : one.body.end].strip())]


def _rows(document: Document, section: Heading, where: str) -> list[Mapping[str, Any]]:
    """Return the outcomes in a section: the rows of its tables by the names of their columns, else its items."""
    found: list[Mapping[str, Any]] = []
    tables = [one for one in document.tables if section.body.start <= one.span.start < section.body.end]
    for table in tables:
        names = [cell.text.casefold().strip() for cell in table.rows[0]]
        for row in table.rows[1:]:
            cells: dict[str, Any] = {name: cell.text.strip() for name, cell in zip(names, row, strict=False)}
            count, tools = cells.get("attempts", ""), cells.get("tools", "")
            cells["attempts"] = int(count) if count.isdecimal() and len(count) <= _DIGITS else count or None
            cells["tools"] = [one for one in (word.strip() for word in tools.split(",")) if one]
            cells["target"] = cells.get("target", cells.get("story"))
            found.append(cells)
    if not tables:
        body = document.text[section.body.start : section.body.end]
        told = (read_outcome(one, f"{where}: {section.text}") for one in _items(body))
        found = [{**one.as_data(), "target": str(one.target)} for one in told]
    return found


def _items(body: str) -> list[str]:
    """Return the items of a list, each with its further lines; a text without one is an item a paragraph."""
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
