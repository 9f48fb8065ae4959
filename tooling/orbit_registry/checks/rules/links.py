"""Checks of links, supersession, citations and inherited records (3xx)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import chain, combinations

from orbit_registry.checks.check import Check, check
from orbit_registry.checks.context import CheckContext, binding, is_ours
from orbit_registry.checks.rewriting import rewritten
from orbit_registry.formats.position import Pointer, Position
from orbit_registry.formats.untrusted import cut
from orbit_registry.judgements.contradicts import contradicts, position_of
from orbit_registry.lifecycle.code_citation import BadCitation, Verdict
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.ids import OVERRIDES
from orbit_registry.model.record import SUPERSEDED, Record
from orbit_registry.operations.link_targets import UNRESOLVED, Unresolved, read_edges
from orbit_registry.repository.codec import list_in
from orbit_registry.repository.inherited import copy_digest, overriding
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import INHERITED

_NAMING = frozenset(
    {"supersedes", "superseded_by", "distinct_from", "links", "evidence", UNRESOLVED}
)


@check(
    "ORB301",
    Severity.ERROR,
    "correct the id, or remove the line; `orbit list` shows the ids there are",
)
def dangling_link(context: CheckContext) -> Iterator[Diagnostic]:
    """A record points at a record that is not there."""
    for record in context.records:
        if _NAMING.isdisjoint(record.data):
            continue

        yield from _unresolved(context, record)

        for pointer, words, target in _references(record):
            if not context.is_id(target) or target in context.broken:
                continue

            matches = context.records.candidates(target)
            weight = binding(record, Severity.ERROR, Severity.WARNING)
            if not matches:
                where = context.at(record, *pointer)
                message = f"{words} {target}, and no record has that id"
                yield dangling_link.at(where, message, record, severity=weight)
            elif len({match.uid for match in matches}) > 1 and not context.records.with_id(target):
                candidates = ", ".join(match.id for match in matches)
                where = context.at(record, *pointer)
                message = f"{words} {target}, which can mean {candidates}"
                hint = "write the id of the one that is meant"
                places = [context.at(match, "id") for match in matches]
                yield dangling_link.at(
                    where, message, record, severity=weight, hint=hint, related=places
                )


def _unresolved(context: CheckContext, record: Record) -> Iterator[Diagnostic]:
    hint = (
        "if it is a record here, say so in `supersedes`, `superseded_by` or `links`; "
        "then remove the line"
    )
    for index, entry in enumerate(list_in(record.data, UNRESOLVED)):
        if not isinstance(entry, dict):
            continue

        words = str(entry.get("rel", "")).replace("_", " ")
        candidates = ", ".join(map(str, list_in(entry, "candidates")))
        meaning = f"can mean {candidates}" if candidates else "is not a link between records"
        message = f"its document says `{words} {entry.get('to', '')}`, which {meaning}"
        where = context.at(record, UNRESOLVED, index)
        yield dangling_link.at(where, message, record, severity=Severity.NOTE, hint=hint)


def _references(record: Record) -> Iterator[tuple[Pointer, str, str]]:
    for name, words in (
        ("supersedes", "it says that it replaces"),
        ("superseded_by", "it says that it is replaced by"),
        ("distinct_from", "it says that it is not the same as"),
    ):
        for index, target in enumerate(record.words(name)):
            yield (name, index), words, target

    for index, link in enumerate(record.links):
        yield ("links", index, "to"), f"it has a link ({link.rel}) to", link.to

    for index, (kind, reference) in enumerate(record.evidence):
        if kind == "record":
            yield ("evidence", index, "reference"), "its evidence is", reference


def _candidates(context: CheckContext, names: Iterable[str]) -> Iterator[Record]:
    """Yield the records that some names can mean."""
    return chain.from_iterable(map(context.records.candidates, names))


OTHER_END = {"supersedes": "superseded_by", "superseded_by": "supersedes"}
_SAYS = {"supersedes": "replaces", "superseded_by": "is replaced by"}


def _one_sided(context: CheckContext, record: Record) -> Iterator[tuple[str, int, Record]]:
    """Yield each supersession that a record alone states:
    its field, its index there, and the other record.
    """
    for name, other_name in OTHER_END.items():
        for index, target in enumerate(record.words(name)):
            matches = context.records.candidates(target)
            if len(matches) != 1 or matches[0].uid == record.uid:
                continue

            declared = _candidates(context, matches[0].words(other_name))
            if all(match.uid != record.uid for match in declared):
                yield name, index, matches[0]


def _write_other_end(context: CheckContext, diagnostic: Diagnostic) -> Sequence[FileChange]:
    """Write the missing end into the other record; a status that forbids it is left to a person."""
    changes: dict[str, FileChange] = {}
    for record in context.records.with_id(diagnostic.record or ""):
        for name, _, other in _one_sided(context, record):
            other_name = OTHER_END[name]
            if f"does not say that it {_SAYS[other_name]}" not in diagnostic.message:
                continue

            data = _with_added(other.data, other_name, [record.id])
            change = rewritten(context, other, data)
            if change is not None:
                changes[other.path] = change

    return tuple(changes.values())


@check(
    "ORB302",
    Severity.ERROR,
    "`orbit check --fix` writes the other end; or remove the line",
    fix=_write_other_end,
)
def one_sided_supersession(context: CheckContext) -> Iterator[Diagnostic]:
    """Only one of two records says that one replaces the other."""
    for record in context.records:
        for name, index, other in _one_sided(context, record):
            back = f"{other.id} does not say that it {_SAYS[OTHER_END[name]]} {record.id}"
            message = f"{record.id} {_SAYS[name]} {other.id}, but {back}"
            severity = Severity.ERROR if is_ours(record) and is_ours(other) else Severity.WARNING
            where = context.at(record, name, index)
            related = [context.at(other, OTHER_END[name])]
            yield one_sided_supersession.at(
                where, message, record, severity=severity, related=related
            )


@check(
    "ORB303",
    Severity.ERROR,
    "decide which one holds, and remove the other `supersedes` and `superseded_by` lines",
)
def supersession_circle(context: CheckContext) -> Iterator[Diagnostic]:
    """Records replace each other in a circle, so none of them holds."""
    edges: dict[str, set[str]] = {}
    for record in context.records:
        if record.data.get("superseded_by"):
            edges[record.id] = {other.id for other in _candidates(context, record.superseded_by)}

    for record in context.records:
        for old in _candidates(context, record.supersedes):
            edges.setdefault(old.id, set()).add(record.id)

    for circle in _circles(edges):
        first = circle[0]
        record = next(iter(context.records.with_id(first)))
        message = f"{first} says that it replaces itself"
        if len(circle) > 1:
            message = f"records replace each other in a circle: {' → '.join((*circle, first))}"

        where = context.at(record, "superseded_by" if record.superseded_by else "supersedes")
        others = chain.from_iterable(map(context.records.with_id, circle[1:]))
        related = [context.at(other, "id") for other in others]
        yield supersession_circle.at(where, message, record, related=related)


def _circles(edges: Mapping[str, set[str]]) -> Iterator[tuple[str, ...]]:
    remaining = dict(edges)
    while True:
        try:
            TopologicalSorter(remaining).prepare()
        except CycleError as error:
            circle = {*error.args[1]}
            yield tuple(sorted(circle))
            remaining = {
                node: following - circle
                for node, following in remaining.items()
                if node not in circle
            }
        else:
            return


def _write_successors(context: CheckContext, diagnostic: Diagnostic) -> Sequence[FileChange]:
    for record in context.records.with_id(diagnostic.record or ""):
        if record.stated_status.name == SUPERSEDED and not record.superseded_by:
            successors = successors_in_document(context, record)
            return changes_for(context, record, record.data, successors)

    return ()


@check("ORB304", Severity.ERROR, "make status and `superseded_by` agree", fix=_write_successors)
def status_and_successor(context: CheckContext) -> Iterator[Diagnostic]:
    """The status of a record and its successor contradict each other."""
    for record in context.records:
        status = record.stated_status
        if status.name != SUPERSEDED and "superseded_by" not in record.data:
            continue

        if status.name == SUPERSEDED and not record.superseded_by:
            yield _without_successor(context, record)
        elif record.superseded_by and status.phase == "live":
            by = record.superseded_by
            message = f"{record.id} is replaced by {', '.join(by)}, but its status is {status.name}"
            live = [later.id for later in context.records.live_successors(record)]
            successor = next(iter(live), by[0])
            hint = f"`orbit {record.kind.name} supersede {record.id} --with {successor}`"
            if context.sources.get(record.path) is not None and not is_ours(record):
                hint += "; or, if it is valid again, take the line out of both records"

            weight = binding(record, Severity.ERROR, Severity.WARNING)
            where = context.at(record, "status")
            yield status_and_successor.at(
                where, message, record, severity=weight, hint=hint, fixable=False
            )
        elif record.superseded_by:
            yield from _undecided_successors(context, record)


def _undecided_successors(context: CheckContext, record: Record) -> Iterator[Diagnostic]:
    """Yield the finding of a record whose successors were never accepted."""
    successors = list(_candidates(context, record.superseded_by))
    undecided = [other for other in successors if other.phase == "pending" or other.is_rejected]
    if not undecided or len(undecided) < len(successors):
        return

    other = undecided[0]
    message = f"{record.id} is replaced by {other.id}, which is {other.status.name}"
    hint = f"accept {other.id} first, or let {record.id} hold until then"
    weight = binding(record, Severity.WARNING)
    where = context.at(record, "superseded_by", 0)
    yield status_and_successor.at(where, message, record, severity=weight, hint=hint, fixable=False)


def _without_successor(context: CheckContext, record: Record) -> Diagnostic:
    successors = successors_in_document(context, record)
    source = context.sources.get(record.path)
    message = f"{record.id} is superseded, but names no successor in superseded_by"
    hint = "add `superseded_by: [ID]`; if nothing replaced it, use another status"

    if successors.records:
        message += f"; its document names {', '.join(other.id for other in successors.records)}"
        hint = "`orbit check --fix` writes both ends"
    elif source is not None and source.authority == "document":
        message += _unresolved_names(successors)
        hint = f"write `Superseded by ADR-NNNN` in {source.path}, then `orbit check --fix`; "
        hint += "if nothing replaced it, its status is deprecated"

    return status_and_successor.at(
        context.at(record, "status"),
        message,
        record,
        severity=binding(record, Severity.WARNING),
        hint=hint,
        fixable=bool(successors.records),
    )


_OWN_FORM = re.compile(r"[A-Z][A-Z0-9]*-[0-9a-z]{4,}\Z")


# In our own form alone; local numbers (`ADR-12`) are let be.
@check(
    "ORB305",
    Severity.ERROR,
    "correct the id, or put an example into a code block; `citations` in .orbit/config.yaml "
    "says which files are read",
)
def unknown_citation(context: CheckContext) -> Iterator[Diagnostic]:
    """A text cites an id that no record has."""
    # Slow to import.
    from orbit_registry.formats.adr.file_names import is_decision_folder, is_example

    adopted = context.documents.by_path.keys() - context.our_documents
    is_known = {f"ADR-{entry.number}": True for _, entry in context.unclaimed}  # those are ORB702's
    for cited in context.citations:
        if not _OWN_FORM.match(cited.id):
            continue
        if cited.id not in is_known:
            is_known[cited.id] = context.knows(cited.id)
        if is_known[cited.id]:
            continue

        path = cited.location.path
        is_note = path in adopted or (
            is_example(path) and any(map(is_decision_folder, path.split("/")))
        )
        severity = Severity.NOTE if is_note else Severity.ERROR
        if cited.record is not None:
            severity = binding(cited.record, Severity.ERROR)

        message = f"{cited.id} is cited, but no record has that id"
        yield unknown_citation.at(cited.location, message, cited.record, severity=severity)


# But for the documents of decisions, which tell how things came about.
@check("ORB306", Severity.NOTE, "see whether the sentence is still true, and cite the successor")
def citation_of_replaced(context: CheckContext) -> Iterator[Diagnostic]:
    """A text cites a decision that was replaced."""
    homes = context.documents.by_path
    for cited in context.citations:
        if cited.location.path in homes or cited.record is not None:
            continue

        matches = context.records.candidates(cited.id)
        if len(matches) != 1 or matches[0].status.name != SUPERSEDED:
            continue

        old = matches[0]
        hint = None
        message = f"{cited.id} ({old.title}) was replaced"
        if old.superseded_by:
            message += f" by {', '.join(old.superseded_by)}"
            hint = _to_cite(context, old, "the sentence is still true")

        related = [context.at(old, "status")]
        yield citation_of_replaced.at(cited.location, message, hint=hint, related=related)


def _to_cite(context: CheckContext, old: Record, condition: str) -> str:
    """Return which records to cite instead of a closed one, if there are any."""
    live = ", ".join(record.id for record in context.records.live_successors(old))
    if not live:
        return f"no live record replaces {old.id}: take the citation out, or say what holds now"
    return f"cite {live}, if {condition}"


_LONGEST_TITLE = 80
_ADDED = ", in a line that this change adds"


@check(
    "ORB307",
    Severity.ERROR,
    "see whether the code still follows it, and cite what does hold",
)
def code_cites_closed(context: CheckContext) -> Iterator[Diagnostic]:
    """Code cites a decision that was replaced or rejected."""
    citing = frozenset(context.facts.citing)
    for cited in context.bad_citations:
        if cited.verdict is Verdict.MISSING:
            continue

        is_added = (cited.path, cited.line) in context.added_lines
        if cited.path in citing and cited.verdict is Verdict.REPLACED and not is_added:
            continue  # ORB306 says so

        old = next(iter(context.records.with_id(cited.record)))
        message = f"{cited.name} ({cut(old.title, _LONGEST_TITLE)}) was {cited.verdict}"
        hint = "say what the code follows instead, or change the code"
        if cited.successors:
            message += f" by {', '.join(cited.successors)}"
            hint = _to_cite(context, old, "the code follows it")

        yield _in_code(context, code_cites_closed, cited, message, hint)


@check(
    "ORB308",
    Severity.ERROR,
    "correct the id, or exclude a file with made-up ids by `citations` in .orbit/config.yaml",
)
def code_cites_missing(context: CheckContext) -> Iterator[Diagnostic]:
    """Code cites a decision that is not there."""
    citing = frozenset(context.facts.citing)
    numbers = (entry.number or "" for _, entry in context.unclaimed)
    unclaimed = {int(number) for number in numbers if number.isdigit()}
    for cited in context.bad_citations:
        number = cited.name.rpartition("-")[2]
        is_unclaimed = number.isdigit() and int(number) in unclaimed
        if cited.verdict is not Verdict.MISSING or cited.path in citing or is_unclaimed:
            continue

        message = f"{cited.name} is cited, and there is no such decision"
        hint = "correct the id; or, if the ids of this file are made up or another project's, add "
        hint += f"`!{cited.path}` to `citations` in .orbit/config.yaml"
        yield _in_code(context, code_cites_missing, cited, message, hint)


def _in_code(
    context: CheckContext, rule: Check, cited: BadCitation, message: str, hint: str
) -> Diagnostic:
    """Return a finding at a citation: an error in a line that the change adds, else a note."""
    where = Location(cited.path, Position(cited.line, cited.column))
    if (cited.path, cited.line) in context.added_lines:
        return rule.at(where, f"{message}{_ADDED}", severity=Severity.ERROR, hint=hint)

    return rule.at(where, message, severity=Severity.NOTE, hint=hint)


@dataclass(frozen=True, slots=True)
class DocumentSuccessors:
    """The records that a document names as successors, and the names in it that lead to none."""

    records: tuple[Record, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()


def successors_in_document(context: CheckContext, record: Record) -> DocumentSuccessors:
    """Return what the document of an adopted record says replaced it;
    nothing where the record has the say.
    """
    home = context.homes.get(record.path)
    source = context.sources.get(record.path)
    if home is None or source is None or context.decides(source) != "document":
        return DocumentSuccessors()

    document, entry = home
    if entry.status != SUPERSEDED:
        return DocumentSuccessors()

    successors: dict[str, Record] = {}
    unresolved: list[Unresolved] = []
    for edge in read_edges(record.id, document.path, entry, context.targets):
        if isinstance(edge, Unresolved):
            if edge.rel == "superseded_by":
                unresolved.append(edge)
        elif edge.rel == "supersedes" and edge.target == record.id:
            matches = context.records.with_id(edge.subject)
            if record.id in context.records.stated_successors(edge.subject):
                name = edge.as_written.removeprefix("superseded_by ")
                reason = f"{edge.subject} is itself replaced by it"
                unresolved.append(Unresolved("superseded_by", name, (), reason))
            elif len(matches) == 1:
                successors[edge.subject] = matches[0]

    return DocumentSuccessors(tuple(successors.values()), tuple(unresolved))


def _unresolved_names(successors: DocumentSuccessors) -> str:
    """Return what is wrong with the names that lead to no record, as a sentence's end;
    empty where there is none.
    """
    if not successors.unresolved:
        return ""

    problems = []
    for unresolved in successors.unresolved:
        problem = f"`{unresolved.target}`: {unresolved.reason}"
        if unresolved.candidates:
            problem += f" ({', '.join(unresolved.candidates)})"
        problems.append(problem)

    return f"; its document names {'; '.join(problems)}"


def changes_for(
    context: CheckContext,
    record: Record,
    data: Mapping[str, object],
    successors: DocumentSuccessors,
) -> Sequence[FileChange]:
    """Return the changes that write `data`, with successors at both ends or none;
    () where `data` is invalid.
    """
    others = [
        rewritten(context, other, _with_added(other.data, "supersedes", [record.id]))
        for other in successors.records
    ]
    full_data = dict(data)
    if None not in others:
        ids = [other.id for other in successors.records]
        full_data = _with_added(data, "superseded_by", ids)

    unresolved = [name.as_data() for name in successors.unresolved]
    own_change = rewritten(context, record, _with_added(full_data, UNRESOLVED, unresolved))
    if own_change is None or None in others:
        own_change = own_change or rewritten(context, record, data)
        others = []

    changes = [change for change in (*others, own_change) if change is not None]
    if all(change.before == change.after for change in changes):
        return ()
    return changes


def _with_added(
    data: Mapping[str, object], name: str, values: Sequence[object]
) -> dict[str, object]:
    existing = list_in(data, name)
    added = [value for value in values if value not in existing]
    if not added:
        return dict(data)
    return {**data, name: [*existing, *added]}


@check("ORB310", Severity.ERROR, "`orbit fleet update` fetches the records and pins them")
def inherited_copy(context: CheckContext) -> Iterator[Diagnostic]:
    """The copy of inherited records is missing,
    or it is not the one that the configuration pins.
    """
    for index, source in enumerate(context.config.extends):
        if context.copies.get(source.name, copy_digest(())) == source.digest:
            continue

        folder = f"{INHERITED}/{source.name}"
        message = f"{folder} is not the copy of {source.name} that `extends` pins"
        if not source.digest:
            message = f"`extends` names {source.name} and pins no digest"

        hint = f"`orbit fleet update {source.name}` fetches the records and pins them"
        yield inherited_copy.at(context.in_config("extends", index), message, hint=hint)


@check(
    "ORB311",
    Severity.ERROR,
    "correct the id, or remove the line; `orbit list --all` shows the ids there are",
)
def inherited_record_gone(context: CheckContext) -> Iterator[Diagnostic]:
    """A record or a text names an inherited record that is not there, or no longer."""
    if not context.config.extends:
        return

    for record in context.records:
        for pointer, words, target in _references(record):
            if context.is_inherited_id(target) and target not in context.records:
                message = f"{words} {target}, and {target.partition(':')[0]} has no such record"
                yield inherited_record_gone.at(context.at(record, *pointer), message, record)

    for cited in context.citations:
        if context.is_inherited_id(cited.id) and cited.id not in context.records:
            message = f"{cited.id} is cited, and {cited.id.partition(':')[0]} has no such record"
            yield inherited_record_gone.at(cited.location, message, cited.record)


@check("ORB312", Severity.ERROR, "add `reason:` to the link")
def override_without_reason(context: CheckContext) -> Iterator[Diagnostic]:
    """A record overrides an inherited one and says no reason,
    or overrides one that is not inherited.
    """
    for record in context.records:
        for index, link in enumerate(list_in(record.data, "links")):
            if not isinstance(link, dict) or link.get("rel") != OVERRIDES:
                continue

            where = context.at(record, "links", index)
            target = link.get("to")
            if ":" not in str(target):
                message = f"it overrides {target}, which is not inherited"
                command = f"orbit {record.kind.name} supersede {target} --with {record.id}"
                hint = f"`{command}` replaces a record"
                yield override_without_reason.at(where, message, record, hint=hint)
            elif not link.get("reason"):
                message = f"it overrides {target} without a reason"
                yield override_without_reason.at(where, message, record)


@check("ORB313", Severity.ERROR, "add a decision here that overrides one of both, with a reason")
def sources_disagree(context: CheckContext) -> Iterator[Diagnostic]:
    """Two sources of inherited records decide differently, and no decision here says what counts.

    Both override one inherited decision, or one decides the opposite of the other.
    """
    if len(context.config.extends) < 2:
        return

    for target, ids in overriding(context.records).items():
        sources = {record_id.rpartition(":")[0] for record_id in ids}
        if "" not in sources and len(sources) > 1:
            message = f"{target} is overridden by {' and by '.join(ids)}"
            yield sources_disagree.at(_in_extends(context, ids[0]), message)

    inherited = [record for record in context.records if record.origin and record.phase == "live"]
    topics = {record.id: set(position_of(record.title).topic) for record in inherited}
    for first, second in combinations(inherited, 2):
        differing = topics[first.id] ^ topics[second.id]
        if first.origin == second.origin or len(differing) > MOST_DIFFERING:
            continue

        contrast = contradicts(first.title, second.title)
        if contrast is not None and contrast.alone:
            message = f"{first.id} and {second.id} disagree: {contrast}"
            yield sources_disagree.at(_in_extends(context, first.id), message)


MOST_DIFFERING = 2
"""Words in which titles differ that are compared: comparing all pairs would take seconds."""


def _in_extends(context: CheckContext, record_id: str) -> Location:
    """Return where the configuration names the source of an inherited record."""
    names = [source.name for source in context.config.extends]
    return context.in_config("extends", names.index(record_id.rpartition(":")[0]))
