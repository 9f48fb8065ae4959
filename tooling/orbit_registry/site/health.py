"""Health page: a verdict, what needs attention with the command for it, and coverage of tracked
files.

The list of files is git's; no file is opened.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote

from orbit_registry.checks.review.review import approval_command, by_evidence, without_status
from orbit_registry.errors import GitError
from orbit_registry.formats.globs import GlobIndex, readable_globs
from orbit_registry.judgements.status_evidence import evidence_of
from orbit_registry.matching.visibility import Visibility, overlooked
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.model.freshness import Freshness, State
from orbit_registry.model.record import Record
from orbit_registry.operations.freshness.remedies import remedies
from orbit_registry.repository.codec import unread_files
from orbit_registry.search.source_files import packages_of
from orbit_registry.site import explorer
from orbit_registry.site.filling import html_part
from orbit_registry.site.language import capital, counted, digits, fact, word
from orbit_registry.site.urls import relative
from orbit_registry.snapshot.publication import Publication
from orbit_registry.snapshot.rows import RouteRows

PAGE = explorer.HEALTH
WAITING_DAYS = 30
MOST_AT_ONCE, MOST_LISTED = 10, 100
MOST, DEEPEST = (
    16,
    2,
)  # most rows of folders, and how deep these lie; the smallest share the last row


Row = tuple[Record, str, str]
"""A record, why it is listed, and the command that sees to it."""


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing that wants attention: its anchor, what it is, the command that sees to it,
    and what that does.
    """

    anchor: str
    name: str
    command: str
    about: str
    rows: Sequence[Row]


def health_html(
    records: Sequence[Record],
    problems: Sequence[Diagnostic],
    freshness: Mapping[str, Freshness],
    today: date,
    coverage: Mapping[str, Counts] = MappingProxyType({}),
    judged: Mapping[str, Visibility] = MappingProxyType({}),
) -> str:
    """Return the page's content; `freshness` is of the records that are not fresh, by path,
    `judged` says where agents are shown each record.
    """
    concerns = concerns_of(records, freshness, today, judged)
    above = html_part(
        "health.html",
        concerns=concerns,
        open=[concern for concern in concerns if concern.rows],
        unread=unread_files(problems),
        total=len(records),
        most=MOST_LISTED,
        at_once=MOST_AT_ONCE,
        page=PAGE,
    )
    return f"{above}{coverage_html(coverage)}"


def concerns_of(
    records: Sequence[Record],
    freshness: Mapping[str, Freshness],
    today: date,
    judged: Mapping[str, Visibility] = MappingProxyType({}),
) -> list[Concern]:
    """Return everything that is looked at, what is fine among it."""
    live = [record for record in records if record.phase == "live"]
    rows: dict[State, list[Row]] = defaultdict(list)
    for record in live:
        if doubt := freshness.get(record.path):
            reasons = "; ".join(fact(reason.message) for reason in doubt.reasons)
            likeliest = next(iter(remedies(record, doubt)), f"orbit show {record.id}")
            rows[doubt.state].append((record, reasons, likeliest))

    days = {record.path: _waits(record, today) for record in records}
    late = [record for record in records if days[record.path] > WAITING_DAYS]
    waiting = [
        (record, counted("health.days", days[record.path]), _deciding(record, record.id))
        for record in late
    ]
    scopes = "orbit scope suggest ID"
    unknown = []
    for record in without_status(records):
        evidence = fact(str(evidence_of(record)))
        unknown.append((record, evidence, _deciding(record, record.id)))

    bare = [_bare(record, judged[record.path]) for record in overlooked(live, judged)]
    counts = "".join(f" {capital(text)}." for text in explorer.unshown(live, judged))
    silent, _ = by_evidence(record for record, _, _ in unknown)
    settle = approval_command(silent) or "orbit review"
    decides = _deciding(late[0]) if late else "orbit show ID"

    expired, stale = rows[State.EXPIRED], rows[State.STALE]
    unshown = _concern("health.unscoped", "health.unscoped.about", scopes, bare)
    return [
        _concern("health.expired", "health.expired.about", "orbit learning prune", expired),
        _concern("health.stale", "health.stale.about", "orbit stale", stale),
        _concern("health.waiting", "health.waiting.about", decides, waiting),
        _concern("health.unknown", "health.unknown.about", settle, unknown),
        replace(unshown, about=f"{unshown.about}{counts}"),
    ]


def _concern(key: str, about: str, command: str, rows: Sequence[Row]) -> Concern:
    """Return a concern by the keys of its words; the last part of its key is its anchor."""
    name = capital(word(key, days=WAITING_DAYS))
    return Concern(key.rpartition(".")[2], name, command, word(about), rows)


def _bare(record: Record, visibility: Visibility) -> Row:
    """Return the row of a record that no edit shows: why, and the last command for it."""
    reason = visibility.reason
    if reason is None:
        return record, "", ""

    return record, fact(reason.text), next(reversed(reason.commands), f"orbit explain {record.id}")


def _deciding(record: Record, name: str = "ID") -> str:
    kind = record.kind
    verb = next(
        (verb for verb, status in kind.verbs.items() if kind.statuses[status].phase == "live"), None
    )
    if verb:
        return f"orbit {kind.name} {verb} {name}"

    return f"orbit show {name}"


def _waits(record: Record, today: date) -> int:
    day = _day(record, "created_at") if record.status.waits else None
    if day is not None:
        return (today - day).days

    return 0


def _day(record: Record, field: str) -> date | None:
    try:
        return date.fromisoformat((record.text(field) or "")[:10])
    except ValueError:
        return None


def bar(part: int, total: int, most: int) -> str:
    """Return a bar as long as `total` is of `most`, filled as far as `part`;
    the text next to it has the numbers.
    """
    widths = (
        (css, 100 * number / most)
        for css, number in (("orbit-rest", total), ("orbit-part", part))
        if number
    )
    rects = "".join(
        f'<rect class="{css}" width="{width:.4g}%" height="100%"/>' for css, width in widths
    )
    return f'<svg class="orbit-bar" aria-hidden="true" width="100%" height="12">{rects}</svg>'


class Counts(NamedTuple):
    """The files of a folder, and how many of them are in a record's scope."""

    files: int
    covered: int


def coverage_of(
    publication: Publication,
    records: Iterable[Record],
    routes: RouteRows,
) -> dict[str, Counts]:
    """Return by folder to how many files a record applies; nothing outside git, and if nothing
    leads a file to a live record.

    Files that may not be named are not counted either.
    """
    workspace = publication.workspace
    live = [record for record in records if record.phase == "live"]
    scopes = {record.globs for record in live if record.globs}
    leading = led_to(live, routes)
    try:
        tracked = workspace.git.tracked() if scopes or leading else None
    except GitError:
        tracked = None

    orbit_folder = f"{workspace.relative(workspace.orbit)}/"
    files = [
        path
        for path in tracked or ()
        if not path.startswith(orbit_folder) and not publication.leaves_out(path)
    ]

    return folders(files, scopes, leading)


def led_to(records: Iterable[Record], routes: RouteRows) -> set[object]:
    """Return the files that import what a scope of some records names, or cite one of them."""
    records = list(records)
    ids = {record.id for record in records}
    packages = set(packages_of(records))
    importing = {row["path"] for row in routes["imports"] if row["package"] in packages}
    citing = {row["path"] for row in routes["code_citations"] if row["record_id"] in ids}
    return importing | citing


def folders(
    files: Iterable[str],
    scopes: Iterable[Sequence[str]],
    leading: Set[object] = frozenset(),
) -> dict[str, Counts]:
    """Return by folder, down to the second level, how many files it has;
    `scopes` are the globs of records, `leading` files that something else leads to one.
    """
    index = GlobIndex((None, readable_globs(globs)) for globs in scopes)
    counts: defaultdict[str, Counts] = defaultdict(lambda: Counts(0, 0))
    for path in files:
        name = "".join(f"{part}/" for part in path.split("/")[:-1][:DEEPEST])
        total, covered = counts[name]
        counts[name] = Counts(total + 1, covered + (path in leading or bool(index.match(path))))

    return counts


def coverage_html(counts: Mapping[str, Counts]) -> str:
    """Return a table with a bar for each folder; "" where there is no file."""
    if not counts:
        return ""

    largest = sorted(counts, key=lambda name: (-counts[name].files, name))
    rows = [(name, _address(name), counts[name]) for name in largest[:MOST]]
    if smaller := largest[MOST:]:
        together = _sum(counts[name] for name in smaller)
        rows.append((counted("health.folders", len(smaller)), "", together))

    total, most = _sum(counts.values()), rows[0][2].files
    values = {"share": _share, "percent": _percent, "bar": bar}
    return html_part("coverage.html", rows=rows, total=total, most=most, **values)


def _sum(counts: Iterable[Counts]) -> Counts:
    return Counts(*map(sum, zip(*counts, strict=True)))


def _share(key: str, counts: Counts) -> str:
    part, total = digits(counts.covered), digits(counts.files)
    return word(key, part=part, total=total, share=_percent(counts))


def _percent(counts: Counts) -> str:
    return f"{round(100 * counts.covered / counts.files)} %"


def _address(name: str) -> str:
    """Return the address of the records that apply to a folder."""
    query = f"?path={quote(name, safe='/')}" if name else ""
    return f"{relative(PAGE, explorer.PAGE)}{query}"
