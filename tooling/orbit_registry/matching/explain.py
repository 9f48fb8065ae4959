"""Verdicts of `orbit explain`: why each record related to a path is shown there, or not."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from orbit_registry.hook import index as reader
from orbit_registry.hook.context import working_project
from orbit_registry.hook.index import AT, Index
from orbit_registry.hook.select import Places, bar_reason, cited, linked_rules
from orbit_registry.matching.match import current_index, head_of
from orbit_registry.matching.pack import SYMBOL
from orbit_registry.matching.personal import is_personal
from orbit_registry.matching.sync import Inputs, inputs_of
from orbit_registry.matching.visibility import for_agents
from orbit_registry.model import fields
from orbit_registry.model.drops import DROPS
from orbit_registry.model.fields import Row
from orbit_registry.model.reach import CITED, LINKED, Via
from orbit_registry.model.scope import USES
from orbit_registry.workspace.workspace import Workspace, project_path

_PUSHED = "pushed"
_DROPPED = ("untrusted", "expired", "project", "broad", "stale")
VERDICTS: Mapping[str, str] = {
    **{key: f"matches, but {DROPS[key]}" for key in _DROPPED},
    _PUSHED: "matches and is shown",
    "excluded": "a glob of the record excludes the path",
    "no match": "a part of the glob matches, the whole does not",
    "not live": "matches, but waits for review or is closed",
    "not pushed": "matches, but no edit shows it: `orbit explain ID` says why",
    "doubted": "matches, but may be out of date, so agents see one line that says so",
    "procedural": (
        "matches, and is about how work is done: shown at an edit or a write, not at a read"
    ),
    "unstated": "matches, but its status is not known, so agents see one line that says so",
    "rule": "matches, and is a rule: shown if it fits the text of the task, or if there is no text",
    "overridden": "matches, but is a personal record that a record of the project overrides",
    "link": "linked with a record that is shown here: shown with that, as a rule is",
    "proposed": "matches, but is not decided yet, so agents see one line that says so",
    "citation cap": f"matches, but {DROPS['citation cap']}",
}
_PUSHED_KEYS = (
    _PUSHED,
    "procedural",
    "doubted",
    "unstated",
    "rule",
    "link",
    "proposed",
)  # keys of what is shown


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether and why one record is pushed for a path: a key of `VERDICTS`, and what leads to it:
    a glob, a package that the file imports, a citation or a link.
    """

    row: Row
    key: str
    glob: str
    doubt: str = ""  # why it may be out of date, where that matters
    link: str = ""  # the id of the record that leads to it, where no glob does
    uses: str = ""  # the package or module of its scope that the file imports
    cited: str = ""  # the id that the file cites: its own, or a closed record's that it replaced
    line: int = 0  # the first line where the file cites that
    successors: tuple[
        str, ...
    ] = ()  # the ids of the pushed records that took the place of a closed one
    renamed_to: str = ""  # the glob that follows a rename of the files, where the other is dead

    def as_data(self) -> dict[str, object]:
        """Return the verdict as JSON shows it."""
        explanation: dict[str, object] = {
            "why": self.key,
            "said": self.text,
            "stale": self.doubt or None,
            "glob": self.glob,
        }
        if self.successors:
            explanation["successors"] = list(self.successors)
        if self.renamed_to:
            explanation["renamed_to"] = self.renamed_to

        return {
            **head_of(self.row),
            "pushed": self.key in _PUSHED_KEYS,
            **explanation,
            "link": self.link or None,
            "uses": self.uses or None,
            "cited": self.cited or None,
            "line": self.line or None,
        }

    @property
    def way(self) -> str:
        """What leads to the record, in words."""
        if self.uses:
            return f"imports {self.uses}"
        if self.cited:
            name = "it" if self.cited == self.row.id else self.cited
            if self.line:
                return f"cites {name} at line {self.line}"

            return f"cited {name}"

        return self.glob or f"link with {self.link}"

    @property
    def text(self) -> str:
        """The verdict in words."""
        agents = self.row.words(fields.AGENTS)
        if agents and self.key in _PUSHED_KEYS:
            return f"{self._text}{for_agents(agents)}"

        return self._text

    @property
    def _text(self) -> str:
        if not self.renamed_to:
            return self._standing

        move = f"git saw `{self.glob}` renamed to `{self.renamed_to}`"
        return f"{self._standing}; {move}: run `orbit check --fix`"

    @property
    def _standing(self) -> str:
        if self.successors:
            return f"matches, but was superseded by {' and '.join(self.successors)}"
        if self.key != "not live":
            return VERDICTS[self.key]
        waits = " and waits for review" if self.row.values[fields.PHASE] == "pending" else ""
        return f"matches, but is {self.row.values[fields.STATUS]}{waits}"


def explain(
    workspace: Workspace,
    path: str,
    *,
    project: str = "",
    now: float | None = None,
    inputs: Inputs | None = None,
) -> list[Verdict]:
    """Return verdicts on all records related to a path, shown ones first, by the files as they
    are, of which `inputs` were read just now.
    """
    path = project_path(path)
    inputs = inputs or inputs_of(workspace)
    index = current_index(workspace, inputs)
    seconds, current_project = time.time() if now is None else now, working_project(project)
    first = _first_hits(index, path)

    verdicts = []
    places = Places()
    for _, (hit, fits) in sorted(first.items()):
        verdict = _verdict(index, path, hit, fits, seconds, current_project)
        is_shown = verdict.key in _PUSHED_KEYS
        if is_shown and not places.take([(Via.PATH, str(hit & AT))]):
            verdict = replace(verdict, key="broad")

        verdicts.append(verdict)

    verdicts = _with_citations(inputs, index, path, verdicts, seconds, current_project)
    shown = [entry.row for entry in verdicts if entry.key in _PUSHED_KEYS]
    leading = [row for row in shown if row.number < index.pushed]
    for number, ways in sorted(linked_rules(index, leading, {}).items()):
        row = index.row(number)
        key = _standing(index, row, seconds, current_project)
        if key == "rule":
            key = "link"

        link = ways[0][0].removeprefix(Via.LINK)
        verdicts = [entry for entry in verdicts if entry.row.number != number]
        verdicts.append(Verdict(row, key, "", row.doubt(seconds), link))

    def position(entry: Verdict) -> tuple[bool, bool, int]:
        is_last = entry.key not in (*_PUSHED_KEYS, "broad")
        return is_last, bool(entry.cited), entry.row.number

    return sorted(verdicts, key=position)


def _with_citations(
    inputs: Inputs,
    index: Index,
    path: str,
    verdicts: list[Verdict],
    now: float,
    project: str,
) -> list[Verdict]:
    """Return verdicts with those on what the citations of the file lead to.

    A record that a glob or an import shows is not one of them.
    """
    by_number = {entry.row.number: entry for entry in verdicts}
    shown = {number for number, entry in by_number.items() if entry.key in _PUSHED_KEYS}
    citations = [entry for entry in cited(index, path) if entry[0] not in shown]
    lines = _cited_lines(inputs, path)

    room = CITED
    for number, ways in citations:
        row = index.row(number)
        key = _standing(index, row, now, project)
        if key == "not live" and row.values[fields.PHASE] == "pending":
            key = "proposed"
        elif key == "rule":
            key = _PUSHED  # the citation leads to it directly
        if key in _PUSHED_KEYS:
            room -= 1
            key = key if room >= 0 else "citation cap"

        name = ways[-1][1:] if ways[-1][0] == Via.SUPERSEDED else row.id
        line = lines.get(name, 0)
        by_number[number] = Verdict(row, key, "", row.doubt(now), cited=name, line=line)

    return [*by_number.values()]


def _cited_lines(inputs: Inputs, path: str) -> dict[str, int]:
    """Return the line at which a tracked file cites each record now, by the record's id."""
    by_path = {record.path: record for record in inputs.records}
    lines = inputs.sources.lines(path) if path in inputs.sources.tracked else {}
    return {by_path[record].id: line for record, line in lines.items()}


def _first_hits(index: Index, path: str) -> dict[int, tuple[int, bool]]:
    """Return a hit of each record that a path has something of, and whether its glob matches."""
    fitting, patterns = index.candidates(path)
    failing: list[int] = []
    for pattern, hits in patterns.items():
        if index.pattern_fits(pattern, path):
            fitting += hits
        else:
            failing += hits

    first: dict[int, tuple[int, bool]] = {}
    for hit in sorted(fitting):
        first.setdefault(hit >> 32, (hit, True))
    for hit in sorted(failing):
        first.setdefault(hit >> 32, (hit, False))

    return first


def _verdict(index: Index, path: str, hit: int, fits: bool, now: float, project: str) -> Verdict:
    row = index.row(hit >> 32)
    renamed_to = index.renamed_to(row, hit)
    glob, uses = index.glob_of(row, hit).removeprefix(SYMBOL), ""
    if glob.startswith(USES):
        glob, uses = "", glob.removeprefix(USES)
    if not fits:
        return Verdict(row, "no match", glob, renamed_to=renamed_to)

    excluding = index.excluding(row, path)
    if excluding is not None:
        return Verdict(row, "excluded", excluding)

    replacing = index.hits_under(reader.REPLACED, row.id)
    ids = tuple(index.row(later >> 32).id for later in replacing)
    key, doubt = _standing(index, row, now, project), row.doubt(now)
    return Verdict(row, key, glob, doubt, successors=ids, renamed_to=renamed_to, uses=uses)


def _standing(index: Index, row: Row, now: float, project: str) -> str:
    is_live = row.values[fields.PHASE] == "live"
    if row.number >= index.pushed:
        if not is_live:
            return "not live"
        if is_personal(row):
            return "overridden"

        return "not pushed"

    reason = bar_reason(row, now, project)
    if reason:
        return reason
    if not is_live:
        return "unstated"

    gate = row.values[fields.GATE]
    is_procedural = row.flags & fields.PROCEDURAL or gate == "procedural"
    if row.doubt(now):
        if is_procedural:
            return "stale"

        return "doubted"
    if gate == LINKED:
        return "rule"

    if is_procedural:
        return "procedural"

    return _PUSHED
