"""Map of replacements and links between records: small drawings from then to now, and one table.

Connected records are drawn together. Of a group too large to read, all replacements are drawn, in several drawings,
and the other links within an area; the table has the rest. Each box is a link; there is no script.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from orbit_registry.model.ids import INVERSES
from orbit_registry.model.record import Record
from orbit_registry.site.drawing import Cell, components, drawing, layered
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import url_of
from orbit_registry.site.urls import relative
from orbit_registry.site.views import RELATIONS, Relations
from orbit_registry.site.words import area_of, date_of, status_css

PAGE = "map/"
MOST = 24
"""Most records in one drawing."""
BOX, HEIGHT, GAP = 200, 42, 12
NEAR, FAR = 44, 104
"""Between two columns: without words on the lines, and with them."""
_LETTERS = 28
_REPLACED = "replaced by"


@dataclass(frozen=True, slots=True)
class Edge:
    """One line, read from `start` to `end`: the older record first."""

    start: str
    end: str
    word: str

    @property
    def replaces(self) -> bool:
        """Say whether the end took the start's place."""
        return self.word == _REPLACED

    @property
    def ends(self) -> tuple[str, str]:
        """The two ids."""
        return self.start, self.end


def edges_of(records: Iterable[Record], relations: Relations) -> list[Edge]:
    """Return every supersession and link between records of the site, one line for two records."""
    words: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record in records:
        if relations.by_id.get(record.id) is not record:
            continue
        for later in relations.replaced_by(record):
            if later in relations.by_id and later != record.id:
                words[record.id, later].insert(0, _REPLACED)
        for link in record.links:
            other = relations.by_id.get(link.to)
            if other is None or other is record:
                continue
            if _age(other) <= _age(record):
                rel = INVERSES.get(link.rel, "referenced_by")
                words[other.id, record.id].append(RELATIONS[rel].lower())
            else:
                words[record.id, other.id].append(RELATIONS.get(link.rel, link.rel).lower())
    return [
        Edge(*ends, _REPLACED if labels[0] == _REPLACED else ", ".join(dict.fromkeys(labels)))
        for ends, labels in words.items()
    ]


def _age(record: Record) -> tuple[str, tuple[object, ...]]:
    return date_of(record) or "9999", record.sort_key


def map_html(records: Sequence[Record], relations: Relations) -> str:
    """Return the page's content."""
    edges = edges_of(records, relations)
    linked = dict.fromkeys(record_id for edge in edges for record_id in edge.ends)
    if not edges:
        return (
            "<p>No record names another yet. <code>orbit link</code> says what one is to another, "
            "<code>orbit adr supersede</code> what replaced it.</p>"
        )
    replaced = sum(edge.replaces for edge in edges)
    counts = {"replacement": replaced, "other link" if replaced else "link": len(edges) - replaced}
    totals = " and ".join(f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count)
    unlinked = len(records) - len(linked)
    note = f" {unlinked:,} records without any are left out." if unlinked else ""
    lead = f"<p>{totals} between {len(linked):,} records, drawn from then to now.{note}</p>{_legend(counts)}"
    nodes = sorted((relations.by_id[record_id] for record_id in linked), key=_age)
    drawings = _drawings(nodes, edges)
    chains = [drawing for drawing in drawings if any(edge.replaces for edge in drawing[1])]
    others = [drawing for drawing in drawings if not any(edge.replaces for edge in drawing[1])]
    table = _table(edges, relations.by_id)
    return f"{lead}{_section('Replacements', chains)}{_section('Links', others)}{table}"


Point = tuple[float, float]
Drawing = tuple[list[Record], list[Edge]]


def _drawings(nodes: Sequence[Record], edges: Sequence[Edge]) -> list[Drawing]:
    area = {record.id: area_of(record) for record in nodes}
    drawings: list[Drawing] = []
    for records, inner in _together(nodes, edges):
        if len(records) <= MOST:
            drawings.append((records, inner))
            continue
        within = [edge for edge in inner if not edge.replaces and area[edge.start] == area[edge.end]]
        for some in ([edge for edge in inner if edge.replaces], within):
            for part in _together(records, some):
                drawings += _cut(*part)
    return drawings


def _together(nodes: Sequence[Record], edges: Sequence[Edge]) -> list[Drawing]:
    """Return the connected components with their edges, without isolated records."""
    by_id = {record.id: record for record in nodes}
    part_of: dict[str, int] = {}
    parts = components(by_id, [edge.ends for edge in edges])
    lines: list[list[Edge]] = [[] for _ in parts]
    for number, part in enumerate(parts):
        part_of.update(dict.fromkeys(part, number))
    for edge in edges:
        lines[part_of[edge.start]].append(edge)
    return [([by_id[node] for node in part], inner) for part, inner in zip(parts, lines, strict=True) if inner]


def _cut(records: Sequence[Record], edges: Sequence[Edge]) -> list[Drawing]:
    """Return drawings of at most so many records that have every edge once; a record may be in several."""
    if len(records) <= MOST:
        return [(list(records), list(edges))]
    position = {record.id: number for number, record in enumerate(records)}
    pieces: list[tuple[set[str], list[Edge]]] = [(set(), [])]
    for edge in sorted(edges, key=lambda edge: (position[edge.start], position[edge.end])):
        if len(pieces[-1][0].union(edge.ends)) > MOST:
            pieces.append((set(), []))
        pieces[-1][0].update(edge.ends)
        pieces[-1][1].append(edge)
    return [
        ([records[number] for number in sorted(position[record_id] for record_id in some)], inner)
        for some, inner in pieces
    ]


def _section(title: str, drawings: Sequence[Drawing]) -> str:
    if not drawings:
        return ""
    areas: dict[str, list[Drawing]] = defaultdict(list)
    for records, edges in drawings:
        most = Counter(area_of(record) for record in records)
        areas[min(most, key=lambda name: (-most[name], name))].append((records, edges))
    parts = []
    for name in sorted(areas, key=lambda name: (not name, name)):
        largest = sorted(areas[name], key=lambda drawing: -len(drawing[0]))
        heading = f"<h3>{escape(name or 'No area')}</h3>" if len(areas) > 1 else ""
        parts.append(f'{heading}<div class="orbit-maps">{"".join(_drawn(*drawing) for drawing in largest)}</div>')
    return f'<h2 id="{title.lower()}">{title}</h2>{"".join(parts)}'


def _drawn(records: Sequence[Record], edges: Sequence[Edge]) -> str:
    layout = layered([record.id for record in records], [edge.ends for edge in edges])
    step = BOX + (NEAR if all(edge.replaces for edge in edges) else FAR)

    def point(cell: Cell) -> Point:
        return cell[0] * step, cell[1] * (HEIGHT + GAP)

    points = {node: point(cell) for node, cell in layout.cells.items()}
    passes = {ends: [point(cell) for cell in places] for ends, places in layout.passes.items()}
    width = max(x for x, _ in points.values()) + BOX
    height = max(y for places in ([*points.values()], *passes.values()) for _, y in places) + HEIGHT
    into: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        into[edge.end].append(edge)
    lines = []
    for end, incoming in into.items():
        incoming.sort(key=lambda edge: (passes[edge.ends] or [points[edge.start]])[-1][1])
        for number, edge in enumerate(incoming, start=1):
            arrival = points[end][1] + HEIGHT * number / (len(incoming) + 1)
            lines.append(_line(edge, points[edge.start], passes[edge.ends], (points[end][0], arrival)))
    boxes = "".join(_box(record, *points[record.id]) for record in records)
    label = f"{len(records)} records, from {records[0].id} to {records[-1].id}"
    return drawing("orbit-map", label, f"{''.join(lines)}{boxes}", (width + 4, height + 4), -2)


def _line(edge: Edge, start: Point, passes: Sequence[Point], arrival: Point) -> str:
    x, y = start[0] + BOX, start[1] + HEIGHT / 2
    curve = f"M{x:g} {y:g}"
    for to_x, to_y in [*((at, row + HEIGHT / 2) for at, row in passes), (arrival[0] - 1, arrival[1])]:
        bend = max((to_x - x) / 2, 20)
        curve += f"C{x + bend:g} {y:g} {to_x - bend:g} {to_y:.1f} {to_x:g} {to_y:.1f}"
        x, y = to_x, to_y
        if (to_x, to_y) != (arrival[0] - 1, arrival[1]):
            curve += f"h{BOX}"
            x += BOX
    css = "orbit-arc" if edge.replaces else "orbit-line"
    word = ""
    if not edge.replaces:
        word = f'<text class="orbit-small" x="{x - 9:g}" y="{y - 3:.1f}" text-anchor="end">{escape(edge.word)}</text>'
    return f'<path class="{css}" d="{curve}M{x - 6:g} {y - 4:.1f}l6 4l-6 4"/>{word}'


def _box(record: Record, x: float, y: float) -> str:
    title = f"{record.id} {record.title} ({record.status.word})"
    plain = record.title.replace("`", "")
    short = plain if len(plain) <= _LETTERS else f"{plain[: _LETTERS - 1].rstrip()}…"
    name = record.id if len(record.id) <= 16 else f"{record.id[:15]}…"
    word = "" if record.phase == "live" else record.status.word
    return (
        f'<a href="{escape(relative(PAGE, url_of(record)))}"><title>{escape(title)}</title>'
        f'<rect class="orbit-box" x="{x:g}" y="{y:g}" width="{BOX}" height="{HEIGHT}" rx="6"/>'
        f'<circle class="orbit-dot {status_css(record.status)}" cx="{x + 14:g}" cy="{y + 14.5:g}" r="4.5"/>'
        f'<text x="{x + 24:g}" y="{y + 18.5:g}">{escape(name)}</text>'
        f'<text class="orbit-small" x="{x + BOX - 9:g}" y="{y + 18.5:g}" text-anchor="end">{escape(word[:14])}</text>'
        f'<text class="orbit-small" x="{x + 9:g}" y="{y + 34:g}">{escape(short)}</text></a>'
    )


def _legend(counts: Mapping[str, int]) -> str:
    means = (("orbit-arc", "the right one replaced the left one"), ("orbit-line", "another link, with its word"))
    entries = "".join(
        '<span><svg class="orbit-drawing orbit-key" aria-hidden="true" viewBox="0 0 30 10" width="30" height="10">'
        f'<path class="{css}" d="M0 5H29M23 1l6 4l-6 4"/></svg> {words}</span>'
        for (css, words), count in zip(means, counts.values(), strict=True)
        if count
    )
    return f'<p class="orbit-legend">{entries}</p>'


def _table(edges: Sequence[Edge], by_id: Mapping[str, Record]) -> str:
    ordered = sorted(edges, key=lambda edge: (not edge.replaces, _age(by_id[edge.start]), _age(by_id[edge.end])))
    rows = "".join(
        f'<tr><td>{_record_link(by_id[edge.start])}</td><td class="orbit-word">{escape(edge.word)}</td>'
        f"<td>{_record_link(by_id[edge.end])}</td></tr>"
        for edge in ordered
    )
    head = '<thead><tr><th scope="col">Record</th><th scope="col">is</th><th scope="col">Record</th></tr></thead>'
    return (
        f'<h2 id="list">The same as a list</h2><div class="orbit-scroll"><table class="orbit-index orbit-pairs">'
        f"{head}<tbody>{rows}</tbody></table></div>"
    )


def _record_link(record: Record) -> str:
    href = escape(relative(PAGE, url_of(record)))
    return f'<a href="{href}"><span class="orbit-id">{escape(record.id)}</span> {headline(record.title)}</a>'
