"""Where a record is shown to agents, and why not elsewhere: one judgement for every door.

It is worked out from values; `surroundings_of` reads them from the files as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from orbit_registry.errors import listed, plural
from orbit_registry.formats.globs import GlobIndex, readable_globs
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.hook.context import is_other_project, working_project
from orbit_registry.hook.purpose import purposes_in
from orbit_registry.hook.select import compiled_pattern
from orbit_registry.matching.compile import breadth_of, category_of, globs_of
from orbit_registry.matching.pack import Citation, plain_glob
from orbit_registry.matching.sync import Inputs, inputs_of
from orbit_registry.matching.teaser import teaser_of
from orbit_registry.model.drops import DROPS
from orbit_registry.model.fields import MORE_LINE
from orbit_registry.model.freshness import expires_at
from orbit_registry.model.rank import rank_order
from orbit_registry.model.reach import ALWAYS, BY_PATH, LINKED
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.model.scope import USES, files_by_package, symbol_problem
from orbit_registry.operations.breadth import Breadth
from orbit_registry.operations.freshness.renames import Move
from orbit_registry.operations.glob_counts import (
    Count,
    FilesByGlob,
    Scope,
    count_matches,
    counter_in,
    files_of_scopes,
)
from orbit_registry.repository.votes import half_life_days
from orbit_registry.workspace.config import GENERAL, agent_name
from orbit_registry.workspace.workspace import ORBIT, Workspace, user_home

EXAMPLES = 3
"""Files of a moment that are named."""
EDIT, USED, CITED = "edit", "uses", "cites"
"""Moments of a file: a glob matches it, it imports what a scope names, it cites the record."""
UNLISTED = "unlisted"
"""Edits of files that git does not list: where there is no git, and, of a personal record, in other
projects.
"""
PROMPT, BRIEF, AGENT = "prompt", "brief", "agent"
"""A prompt or a brief with a record's words; a brief of an agent that gets its category."""
ERROR, COMMAND, LINK, PLAN, START = "error", "command", "link", "plan", "start"
"""What fails, what is run, a record that is shown, a plan of the target, a session's start."""
SUGGEST = "orbit scope suggest"
EVERY_AGENT = "every agent"


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment at which an agent is shown a record: one of the names above."""

    name: str
    files: int = 0
    """At so many files; 0 for moments that are not those of a file."""
    examples: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Agents, records or commands that it depends on; the pattern of an error."""

    def as_data(self) -> dict[str, object]:
        """Return the moment as JSON shows it."""
        data: dict[str, object] = {"moment": self.name}
        if self.files:
            data |= {"files": self.files, "examples": list(self.examples)}
        if self.names:
            data["names"] = list(self.names)

        return data

    def __str__(self) -> str:
        """The moment in words, to follow "shown"."""
        return _WORDS[self.name].format(
            files=plural(self.files, "file"),
            names=listed(self.names, EXAMPLES),
            imports=_verb(self.files, "import"),
            cites=_verb(self.files, "cite"),
        )


_WORDS = {
    EDIT: "at edits of {files}",
    USED: "at edits of {files} that {imports} what it names",
    CITED: "at edits of {files} that {cites} it",
    UNLISTED: "at edits of files that its globs match",
    ERROR: "after an error with `{names}`",
    COMMAND: "at commands to {names}",
    LINK: "with {names}",
    PROMPT: "at prompts with its words",
    BRIEF: "in briefs with its words",
    AGENT: "in briefs of {names}",
    PLAN: "where its target is planned",
    START: "at a session's start",
}


def _verb(count: int, verb: str) -> str:
    if count == 1:
        return f"{verb}s"

    return verb


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a record is not shown, at some files or ever, and the commands that change that."""

    key: str
    text: str
    commands: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.commands:
            return self.text

        return f"{self.text}: {' or '.join(f'`{command}`' for command in self.commands)}"


@dataclass(frozen=True, slots=True)
class Visibility:
    """The moments at which agents are shown a record, and why it is not shown elsewhere."""

    moments: tuple[Moment, ...] = ()
    reason: Reason | None = None
    """Why it is never shown, at no edit, or at fewer files than its scope has."""
    withheld: int = 0
    """Files of its scope whose edits do not show it."""
    waits: bool = False
    """Whether the moments begin when a person accepts it."""
    agents: tuple[str, ...] = ()
    """The agents that it is for; empty: all."""
    undecided: int = 0
    """While it waits: files that cite it, which show it as not decided."""

    @property
    def files(self) -> int:
        """At edits of how many files it is shown."""
        return sum(moment.files for moment in self.moments)

    @property
    def is_at_edits(self) -> bool:
        """Whether the edit of some file shows it, or another record brings it along."""
        at_edits = (EDIT, USED, CITED, UNLISTED, LINK)
        return any(moment.name in at_edits for moment in self.moments)

    @property
    def is_overlooked(self) -> bool:
        """Whether no edit shows it, though it could, and nothing else was chosen for it."""
        if self.is_at_edits or self.reason is None or self.reason.key not in _OF_SCOPE:
            return False

        chosen = (ERROR, COMMAND, PLAN)
        if any(moment.name in chosen for moment in self.moments):
            return False

        agents = [moment.names for moment in self.moments if moment.name == AGENT]
        return agents in ([], [(EVERY_AGENT,)])

    @property
    def is_obvious(self) -> bool:
        """Whether its kind or its status alone decides that no agent is shown it."""
        return self.reason is not None and self.reason.key in ("kind", "closed")

    def with_text(self, published: Callable[[str], str]) -> Visibility:
        """Return it with another text of its reason, such as what readers may see of that."""
        if self.reason is None:
            return self

        return replace(self, reason=replace(self.reason, text=published(self.reason.text)))

    def as_data(self) -> dict[str, object]:
        """Return the judgement as JSON shows it."""
        moments = [moment.as_data() for moment in self.moments]
        data: dict[str, object] = {
            "files": self.files,
            "moments": moments,
            "after_acceptance": self.waits,
            "agents": list(self.agents),
            "withheld": self.withheld,
            "cause": None,
            "why": None,
            "next": [],
            "said": list(self.lines()),
        }
        if self.reason is not None:
            data["cause"] = self.reason.key
            data["why"] = self.reason.text
            data["next"] = list(self.reason.commands)

        return data

    def lines(self) -> Iterator[str]:
        """Yield the judgement in sentences."""
        when = "when accepted, " if self.waits else ""
        alone = for_agents(self.agents)
        shown = f"{when}shown {_series(_phrases(self.moments))}{alone}"
        if not self.moments:
            yield f"{when}never shown: {self.reason}"
        elif not self.is_at_edits:
            # The edit that makes the first file of a glob shows it.
            now = " so far" if self.reason and self.reason.key == "no match" else ""
            yield f"{shown}, but at no edit{now}: {self.reason}"
        else:
            yield shown

        if self.is_at_edits and self.withheld:
            yield f"{when}not shown at edits of {plural(self.withheld, 'file')}: {self.reason}"
        if self.undecided:
            files = plural(self.undecided, "file")
            cite = _verb(self.undecided, "cite")
            at = f"at edits of {files} that {cite} it, and at prompts and briefs with its words"
            yield f"until then shown as not decided {at}"


def _phrases(moments: Iterable[Moment]) -> list[str]:
    phrases = {moment.name: str(moment) for moment in moments}
    if PROMPT in phrases and BRIEF in phrases:
        phrases[PROMPT] = "at prompts and briefs with its words"
        del phrases[BRIEF]

    return [*phrases.values()]


def for_agents(agents: Sequence[str]) -> str:
    """Return which agents are shown a record whose scope names agents."""
    if not agents:
        return ""

    names = "the agent" if len(agents) == 1 else "the agents"
    return f", to {names} {listed(agents, EXAMPLES)} or one without a name"


def _series(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)

    return f"{', '.join(words[:-1])}, and {words[-1]}"


@dataclass(frozen=True)
class Surroundings:
    """What decides where records are shown, as values; paths are from the root."""

    records: Sequence[Record]
    """All records of the project, closed ones too."""
    files: Sequence[str] = ()
    """Files that an agent may edit, tracked or not."""
    tracked: Sequence[str] = ()
    cited: Mapping[str, Sequence[Citation]] = field(default_factory=dict)
    """What the citations of each file lead to."""
    imported: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The packages and modules of scopes that each file imports."""
    moves: Mapping[str, Sequence[Move]] = field(default_factory=dict)
    """What became of files that records name, by the record's path."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """Why records are out of date, by path."""
    untrusted: frozenset[str] = frozenset()
    local: frozenset[str] = frozenset()
    """Paths of the records that this machine's inbox holds."""
    personal: Sequence[Record] = ()
    """The user's own records, which compete for places."""
    agents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The categories that each agent is briefed with."""
    project: str = ""
    """The current project in a repository of several."""
    is_home: bool = False
    """Whether the records are the user's own, which are shown in other projects."""
    half_life: float = 0.0
    now: float = 0.0
    count: Count = count_matches
    """Returns how many files each glob matches."""

    def with_records(self, drafts: Sequence[Record]) -> Surroundings:
        """Return what they were if some records that are not written yet were there."""
        if drafts:
            return replace(self, records=[*self.records, *drafts])

        return self

    @cached_property
    def set(self) -> RecordSet:
        """The records, by id."""
        return RecordSet(self.records)

    @cached_property
    def editable(self) -> list[str]:
        """The files whose edits can show a record."""
        return [file for file in self.files if not file.startswith(f"{ORBIT}/")]

    @cached_property
    def importers(self) -> Mapping[str, Sequence[str]]:
        """The files that import each package or module, as scopes name it."""
        return files_by_package(self.imported)

    @cached_property
    def citing(self) -> Mapping[str, Sequence[str]]:
        """The files whose citations lead to each record, by its path."""
        files: dict[str, dict[str, None]] = {}
        for file, citations in self.cited.items():
            for citation in citations:
                files.setdefault(citation.record, {})[file] = None

        return {path: list(citing) for path, citing in files.items()}

    @cached_property
    def competing(self) -> list[Record]:
        """The records that can be shown, the first in push order first."""
        shown = [record for record in self.records if self.is_pushed(record)]
        return sorted([*shown, *self.personal], key=self.order)

    def order(self, record: Record) -> tuple[object, ...]:
        """Return what records are sorted by."""
        return rank_order(record, self.half_life)

    def is_pushed(self, record: Record) -> bool:
        """Say whether a record is among those that agents are shown."""
        return record.phase != "closed" and record.status.pushed and record.path not in self.local

    def scope(self, record: Record) -> Scope:
        """Return the globs of a record: of paths, of its symbols' files, of where these moved,
        and its packages behind a mark.
        """
        return tuple(map(plain_glob, globs_of(record, self.moves.get(record.path, ()))))

    @cached_property
    def _breadth(self) -> tuple[Breadth, Mapping[str, int]]:
        return self._judged(self.competing)

    def _judged(self, competing: Sequence[Record]) -> tuple[Breadth, Mapping[str, int]]:
        scopes = [self.scope(record) for record in competing]
        breadth = breadth_of(scopes, self.tracked, self.imported, self.count)
        withheld = breadth.withheld(scopes)
        paths = (record.path for record in competing)
        return breadth, dict(zip(paths, withheld, strict=True))

    def breadth(self, record: Record) -> tuple[Breadth, int]:
        """Return how broad the scopes are, and at how many files the record finds no place;
        of one that waits, when it is accepted.
        """
        breadth, withheld = self._breadth
        if record.path not in withheld:
            breadth, withheld = self._judged(sorted([*self.competing, record], key=self.order))

        return breadth, withheld[record.path]


def surroundings_of(workspace: Workspace, inputs: Inputs | None = None) -> Surroundings:
    """Read what decides where the records of a workspace are shown, from its files as they are."""
    inputs = inputs or inputs_of(workspace)
    tracked = inputs.report.tracked or ()
    local = frozenset(entry.path for entry in inputs.entries if entry.pending)
    routes = inputs.routes
    personal: Sequence[Record] = ()
    if inputs.personal is not None:
        personal = inputs.personal.records

    around = Surroundings(
        records=inputs.records,
        files=[*tracked, *inputs.report.untracked],
        tracked=tracked,
        cited=routes.cited,
        imported=routes.imported,
        moves=inputs.moves,
        doubts=inputs.causes,
        untrusted=frozenset(inputs.untrusted),
        local=local,
        personal=personal,
        agents=workspace.config.learnings.mapping,
    )
    return replace(
        around,
        project=working_project(),
        half_life=half_life_days(),
        now=time.time(),
        is_home=user_home().resolve() == workspace.root.resolve(),
        count=counter_in(workspace.cache, "breadth"),
    )


def visibility(record: Record, around: Surroundings) -> Visibility:
    """Return where a record is shown to agents."""
    return visibilities([record], around)[record.path]


def visibilities(records: Sequence[Record], around: Surroundings) -> dict[str, Visibility]:
    """Return where each record is shown, by its path."""
    scopes = {record.path: around.scope(record) for record in records}
    globs = {path: scope for path, scope in scopes.items() if scope}
    matched = files_of_scopes(globs, around.editable, EXAMPLES)
    return {
        record.path: _visibility(record, around, matched.get(record.path, {})) for record in records
    }


def _visibility(record: Record, around: Surroundings, matched: FilesByGlob) -> Visibility:
    barrier = _barrier(record, around)
    if barrier is not None:
        return Visibility(reason=barrier)

    scope = around.scope(record)
    of_files, withheld, breadth = _moments_of_files(record, around, matched)
    others = _other_moments(record, around, is_withheld=withheld > 0)
    judged = Visibility(
        moments=(*of_files, *others),
        withheld=withheld,
        waits=_waits(record),
        agents=record.scope.agents,
        undecided=len(around.citing.get(record.path, ())) if _waits(record) else 0,
    )

    if withheld:
        return replace(judged, reason=_too_wide(record, breadth, scope))
    if not judged.is_at_edits:
        return replace(judged, reason=_no_file(record, around))

    return judged


def _waits(record: Record) -> bool:
    return record.is_undecided and not record.status.pushed


def _closed(record: Record, around: Surroundings) -> Reason:
    """Return that a record no longer holds, and what is shown in its place."""
    text = f"it is {record.status.name}"
    successors = around.set.live_successors(record)
    if not successors:
        return Reason("closed", text)

    names = listed([later.id for later in successors], 2)
    if not record.scope.is_empty and all(later.scope.is_empty for later in successors):
        # What was shown at files is shown at none any more.
        missing = f"{text}; {names} replaces it, and names no files"
        return Reason("closed", missing, ("orbit scope suggest",))

    return Reason("closed", f"{text}; {names} is shown in its place")


def _barrier(record: Record, around: Surroundings) -> Reason | None:
    """Return why a record is shown at no moment at all."""
    kind, status = record.kind, record.status
    if record.phase == "closed":
        return _closed(record, around)

    later = [other for other in kind.statuses.values() if other.phase == "live"]
    if not any(other.pushed for other in (later if _waits(record) else [status])):
        return Reason("kind", f"{kind.with_article} is for people and for searches")
    if not _waits(record) and record.path in around.local:
        return Reason("inbox", "it is in this machine's inbox", ("orbit review",))
    if not _waits(record) and record.path in around.untrusted:
        return Reason("untrusted", DROPS["untrusted"])
    if is_other_project(record.text("project") or "", around.project):
        return Reason("project", DROPS["project"])

    end = expires_at(record)
    if end is not None and end.timestamp() <= around.now:
        again = f"orbit verify {record.id} --expires DATE"
        return Reason("expired", f"its time was over on {end:%Y-%m-%d}", (again,))
    if record.data.get("procedural") is True and record.path in around.doubts:
        return Reason("stale", DROPS["stale"], (f"orbit verify {record.id}",))

    return None


def _moments_of_files(
    record: Record, around: Surroundings, matched: FilesByGlob
) -> tuple[list[Moment], int, Breadth | None]:
    """Return the moments that are edits of files, and how many files of the scope have no place
    for the record.
    """
    scope = around.scope(record)
    by_scope = GlobIndex([("", readable_globs(scope))])
    included = GlobIndex([("", readable_globs(["**", *_excluding(scope)]))])

    importing: dict[str, None] = {}
    for name in scope:
        for file in around.importers.get(name, ()):
            if included.match(file) and not by_scope.match(file):
                importing[file] = None

    citing: list[str] = []
    for file in around.citing.get(record.path, ()):
        if file not in importing and not by_scope.match(file):
            citing.append(file)

    in_scope = sum(count for count, _ in matched.values())
    breadth, withheld = around.breadth(record) if in_scope or importing else (None, 0)
    # Whose wide names are packages alone finds no place at files that import them.
    wide = () if breadth is None else breadth.wide.get(scope, ())
    of_imports = withheld if all(name.startswith(USES) for name in wide) else 0
    of_imports = max(of_imports, withheld - in_scope)

    examples: list[str] = []
    for _, files in matched.values():
        examples += files

    if scope and (around.is_home or not around.files):
        return [Moment(UNLISTED)], 0, None

    moments = [
        _at_files(EDIT, in_scope - (withheld - of_imports), examples),
        _at_files(USED, len(importing) - of_imports, [*importing]),
        _at_files(CITED, len(citing), citing),
    ]
    return [moment for moment in moments if moment.files > 0], withheld, breadth


def _at_files(name: str, count: int, files: Sequence[str]) -> Moment:
    return Moment(name, count, tuple(files[: min(count, EXAMPLES)]))


def _excluding(scope: Scope) -> list[str]:
    return [text for text in scope if text.startswith("!")]


def _other_moments(record: Record, around: Surroundings, *, is_withheld: bool) -> Iterator[Moment]:
    """Yield the moments that no file leads to."""
    gate = record.kind.gate
    pattern = compiled_pattern(record.text("error_pattern") or "")
    if pattern and gate != BY_PATH:
        yield Moment(ERROR, names=(without_secrets(pattern),))

    if record.data.get("procedural") is True or gate == "procedural":
        teaser, _, _ = teaser_of(record, has_body=False).partition(MORE_LINE)
        purposes = purposes_in(teaser)
        if purposes:
            yield Moment(COMMAND, names=tuple(purposes))

    if gate == LINKED:
        linked = _linked(record, around)
        if linked:
            yield Moment(LINK, names=tuple(linked))
    elif gate != BY_PATH:
        yield Moment(PROMPT)

    agents = _briefed(record, around)
    if agents != (EVERY_AGENT,) and gate != BY_PATH and not _needs_link(record):
        yield Moment(BRIEF)
    if agents:
        yield Moment(AGENT, names=agents)
    if "target" in record.data:
        yield Moment(PLAN)
    if gate == ALWAYS or is_withheld:
        yield Moment(START)


def _linked(record: Record, around: Surroundings) -> list[str]:
    """Return the ids of the records that show a rule with them."""
    names = {record.id, *record.legacy_ids}
    targets = {link.to for link in record.links}
    linked: list[str] = []
    for other in around.competing:
        is_linking = not names.isdisjoint(link.to for link in other.links)
        if other.path != record.path and (other.id in targets or is_linking):
            linked.append(other.id)

    return linked


def _needs_link(record: Record) -> bool:
    """Say whether it is a rule to which nothing but links leads."""
    has_way = not record.scope.is_empty or bool(record.data.get("project"))
    return record.kind.gate == LINKED and not has_way


def _briefed(record: Record, around: Surroundings) -> tuple[str, ...]:
    """Return the agents whose briefs have the record by its category."""
    category = category_of(record)
    if not category:
        return ()

    own = {agent_name(agent) for agent in record.scope.agents}
    if category == GENERAL:
        return record.scope.agents or (EVERY_AGENT,)

    names = (agent for agent, categories in around.agents.items() if category in categories)
    return tuple(sorted(name for name in names if not own or name in own))


_OF_SCOPE = frozenset(
    ("no path", "no match", "excluded", "not imported", "unreadable", "wide"),
)
"""Keys of the reasons that a change of the record's scope removes."""


def _no_file(record: Record, around: Surroundings) -> Reason:
    """Return why the edit of no file shows a record."""
    update: tuple[str, ...] = (f"orbit {record.kind.name} update {record.id} --path GLOB",)
    suggest: tuple[str, ...] = (f"{SUGGEST} {record.id}",)
    if record.origin:  # it is changed where it comes from
        update = suggest = ()

    scope = around.scope(record)
    including = [text for text in scope if not text.startswith(("!", USES))]
    packages = [text.removeprefix(USES) for text in scope if text.startswith(USES)]
    unreadable = [text for text in record.globs if not readable_globs([text])]
    unreadable += [symbol for symbol in record.symbols if symbol_problem(symbol) is not None]

    if not (including or packages or unreadable):
        names = "tags alone, which an edit does not have" if record.tags else "no path"
        # Citations of other records that wait lead nowhere yet.
        others = ["no file cites it"] if record.kind.in_document or not _waits(record) else []
        if _needs_link(record):
            others.append("it is linked with no record that is shown")

        text = _series([f"it names {names}", *others])
        return Reason("no path", text, (*update, *suggest))
    if not (including or packages):
        return Reason("unreadable", f"{_quoted(unreadable)} can't be read", update)
    if including and files_of_scopes({"": tuple(including)}, around.editable, 0):
        excluded = _quoted(_excluding(scope))
        return Reason("excluded", f"{excluded} excludes each file of its scope", update)
    if including:
        match = "matches" if len(including) == 1 else "match"
        return Reason("no match", f"{_quoted(including)} {match} no file", update)

    return Reason("not imported", f"no file imports {_quoted(packages)}", update)


def _quoted(names: Sequence[str]) -> str:
    return listed([f"`{without_secrets(name)}`" for name in names], 2)


def _too_wide(record: Record, breadth: Breadth | None, scope: Scope) -> Reason:
    text = "" if breadth is None else without_secrets(breadth.reason(scope))
    narrower = f"orbit {record.kind.name} update {record.id} --path NARROWER"
    vote = (f"orbit {record.kind.name} vote {record.id} --task TASK",) if record.kind.voted else ()
    return Reason("wide", text, () if record.origin else (narrower, *vote))


def overlooked(records: Iterable[Record], judged: Mapping[str, Visibility]) -> list[Record]:
    """Return the live records that no edit shows, though one could; of texts that are kept
    to be searched none.
    """
    return [
        record
        for record in records
        if record.phase == "live"
        and not record.kind.in_file
        and record.path in judged
        and judged[record.path].is_overlooked
    ]


def summaries(records: Sequence[Record], judged: Mapping[str, Visibility]) -> list[str]:
    """Return for each kind how many live records no edit shows, where there are any."""
    by_kind: dict[str, list[Record]] = {}
    for record in records:
        by_kind.setdefault(record.kind.name, []).append(record)

    return [text for of_kind in by_kind.values() if (text := summary(of_kind, judged))]


def summary(records: Sequence[Record], judged: Mapping[str, Visibility]) -> str:
    """Return how many of some records of one kind no edit shows; empty for none."""
    live = [record for record in records if record.phase == "live"]
    missing = len(overlooked(live, judged))
    if not missing:
        return ""

    kind = live[0].kind
    accepted = f"{'accepted ' if kind.in_document else ''}{kind.labels.lower()}"
    if len(live) == 1:
        return f"the only {accepted.removesuffix('s')} is shown at no edit"

    verb = "is" if missing == 1 else "are"
    return f"{missing:,} of {len(live):,} {accepted} {verb} shown at no edit"
