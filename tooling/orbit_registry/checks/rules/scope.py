"""Checks of scopes (5xx)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from shlex import quote

from orbit_registry.checks.check import check
from orbit_registry.checks.context import LOCAL, CheckContext
from orbit_registry.checks.rewriting import follow_moves, move_hint
from orbit_registry.checks.scopes import folders_of, glob_hint
from orbit_registry.errors import did_you_mean, plural
from orbit_registry.formats.globs import Glob, parse_glob
from orbit_registry.formats.position import Problem
from orbit_registry.model.diagnostic import Diagnostic, Location, Severity
from orbit_registry.model.rank import rank_order
from orbit_registry.model.reach import LINKED
from orbit_registry.model.record import Record
from orbit_registry.model.scope import USES, files_by_package, symbol_glob, symbol_problem
from orbit_registry.operations.breadth import Breadth
from orbit_registry.operations.glob_counts import counter_in
from orbit_registry.repository.votes import half_life_days
from orbit_registry.workspace.config import GENERAL, LEARNINGS, MAPPING, agent_name, default_mapping


@check(
    "ORB501",
    Severity.ERROR,
    "globs are *, ?, **, [a-z], {a,b}, a leading ! to exclude, dir/ for everything below",
)
def invalid_glob(context: CheckContext) -> Iterator[Diagnostic]:
    """A glob in a record's scope can't be read, so the record is never shown where it should be."""
    for record, paths in context.report.scoped:
        if all(text in context.report.counts for text in paths):
            continue  # what matches a file is a glob that includes

        read = [parse_glob(text) for text in paths]
        for index, (text, glob) in enumerate(zip(paths, read, strict=True)):
            if isinstance(glob, Problem):
                where = context.at(record, "scope", "paths", index)
                message = f"`{text[:80]}` is not a glob: {glob.message}"
                yield invalid_glob.at(where, message, record, hint=glob.hint)

        excludes = all(isinstance(glob, Glob) and glob.exclude for glob in read)
        if excludes and not record.uses:
            message = f"the scope of {record.id} only excludes, so it matches nothing"
            hint = "put a glob before them that says what is included: `**` for everything"
            yield invalid_glob.at(context.at(record, "scope", "paths"), message, record, hint=hint)


GLOB_HINT = "correct the glob, or retire the record"


@check("ORB502", Severity.ERROR, GLOB_HINT, fix=follow_moves)
def dead_glob(context: CheckContext) -> Iterator[Diagnostic]:
    """A glob or the file of a symbol matches no file: the record is never shown for it."""
    report = context.report
    if not report.dead and not report.dead_symbols:
        return

    folders, files = folders_of(report.files), frozenset(report.files)
    for record in context.open_records:
        for text in report.dead.get(record.path, ()):
            where = context.at(record, "scope", "paths", record.globs.index(text))
            otherwise = glob_hint(text, folders, GLOB_HINT, files)
            yield _dead(
                context, record, text, f"`{text}` matches no tracked file", where, otherwise
            )

        for text in report.dead_symbols.get(record.path, ()):
            where = context.at(record, "scope", "symbols", record.symbols.index(text))
            message = f"the file of the symbol `{text}` is not tracked"
            otherwise = "correct the symbol, or retire the record"
            yield _dead(context, record, text, message, where, otherwise)


def _dead(
    context: CheckContext, record: Record, text: str, message: str, where: Location, otherwise: str
) -> Diagnostic:
    """Return the finding of a name that matches no file;
    a rename in the change makes it an error.
    """
    renames = context.renames_of_change
    glob = symbol_glob(text) if "::" in text else text
    is_cut_off = renames is not None and renames.has_moved(glob)
    moved = move_hint(context, record, text)

    return dead_glob.at(
        where,
        message,
        record,
        severity=Severity.ERROR if is_cut_off else Severity.WARNING,
        hint=moved or _choice(context, record, text) or otherwise,
        fixable=moved is not None,
    )


def _choice(context: CheckContext, record: Record, text: str) -> str | None:
    """Return where the files of a glob are that went several ways."""
    move = context.move_of(record, text)
    if move is None or not move.destinations:
        return None

    globs = [f"`{glob}` ({plural(count, 'file')})" for glob, count in move.destinations]
    command = f"orbit {record.kind.name} update {record.id} --path GLOB"
    update = f"`{command} --remove-path {quote(text)}`"
    return f"git saw its files move to {', '.join(globs)}: choose with {update}"


@check(
    "ORB503",
    Severity.NOTE,
    "narrow the globs to where the record helps, or vote for it; briefs and a session's start "
    "show it",
)
def broad_scope(context: CheckContext) -> Iterator[Diagnostic]:
    """A record is not shown at edits, because its globs are wide and other records come first."""
    half_life = half_life_days()
    competing = [record for record in context.open_records if _can_be_shown(record)]
    competing.sort(key=lambda record: rank_order(record, half_life))
    scopes = [_scope(record) for record in competing]
    importers = files_by_package(context.imported or {})
    counter = counter_in(context.cache, "breadth")
    breadth = Breadth.of(scopes, context.facts.tracked or (), importers, counter)

    withheld = breadth.withheld(scopes)
    for record, scope, count in zip(competing, scopes, withheld, strict=True):
        if not count:
            continue

        wide = breadth.wide[scope]
        widest = max(wide, key=wide.__getitem__)
        edits = f"edits of {plural(count, 'file')} do not show {record.id}"
        message = f"{edits}: {breadth.reason(scope)}"
        where = context.at(record, "scope", "paths", scope.index(widest))
        if widest.startswith(USES):
            where = context.at(record, "scope", "uses", record.uses.index(widest[1:]))

        yield broad_scope.at(where, message, record)


def _scope(record: Record) -> tuple[str, ...]:
    packages = (f"{USES}{name}" for name in record.uses)
    return (*record.globs, *map(symbol_glob, record.symbols), *packages)


def _can_be_shown(record: Record) -> bool:
    return record.status.pushed and not record.path.startswith(LOCAL)


# Words lead agents to records of other kinds: `orbit check` counts in one line those that no edit
# shows.
@check("ORB504", Severity.NOTE, "say where it applies: `orbit KIND update ID --path 'src/**'`")
def empty_scope(context: CheckContext) -> Iterator[Diagnostic]:
    """A live record of a kind that no words lead to names no path, tag, project and link."""
    for record in context.records:
        if record.is_unreachable and record.kind.gate == LINKED:
            message = (
                f"{record.id} names no path and no tag: it is found by search, and never "
                f"shown to agents unless a record that is shown links to it"
            )
            location = context.at(record, "scope" if "scope" in record.data else "id")
            hint = (
                f"say where it applies: `orbit {record.kind.name} update {record.id} --path "
                f"'src/**'`"
            )
            yield empty_scope.at(location, message, record, hint=hint)


@check(
    "ORB505",
    Severity.WARNING,
    "write the file from the root and the name in it: src/app/session.py::open_session",
)
def invalid_symbol(context: CheckContext) -> Iterator[Diagnostic]:
    """A symbol in a record's scope is not of the form path::name."""
    for record in context.open_records:
        for index, symbol in enumerate(record.symbols):
            problem = symbol_problem(symbol)
            if problem is not None:
                where = context.at(record, "scope", "symbols", index)
                message = f"`{symbol[:80]}` is not a symbol: {problem}"
                yield invalid_symbol.at(where, message, record)


# Who takes the `#` from the shipped lines of the mapping has not chosen those words: learnings for
# them may come.
@check(
    "ORB506",
    Severity.ERROR,
    "correct the category, take it out, or add the learning: `orbit learning new --category NAME`",
)
def unused_category(context: CheckContext) -> Iterator[Diagnostic]:
    """An agent is mapped to a category that no record has."""
    mapping = context.config.raw.get(LEARNINGS, {}).get(MAPPING)
    if not mapping:
        return

    used = {
        str(record.data["category"]) for record in context.open_records if "category" in record.data
    }
    known_names = {GENERAL, *used}.union(*default_mapping().values())
    for agent, categories in mapping.items():
        for number, name in enumerate(categories):
            if name in known_names:
                continue

            near = did_you_mean(name, sorted(known_names), "`")
            hint = f"{near}`orbit learning list` shows what there is" if near else None
            message = f"no record has the category `{name}`, which {agent_name(agent)} is mapped to"
            where = context.in_config(LEARNINGS, MAPPING, agent, number)
            yield unused_category.at(where, message, hint=hint)


@check("ORB507", Severity.NOTE, "correct the name, or leave it until code imports it")
def unused_package(context: CheckContext) -> Iterator[Diagnostic]:
    """No file imports a package or module of a scope: the record is never shown for it."""
    if context.imported is None:
        return

    imported = set().union(*context.imported.values())
    hint = None
    if find_spec("ast_grep_py") is None:
        hint = f"{unused_package.hint}; without `orbit-registry[enforce]`, only Python is read"

    for record in context.open_records:
        for index, name in enumerate(record.uses):
            if name not in imported:
                where = context.at(record, "scope", "uses", index)
                message = f"no tracked file imports `{name}`"
                yield unused_package.at(where, message, record, hint=hint)
