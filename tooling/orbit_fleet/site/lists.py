"""Pages over all repositories, as Markdown: home, areas, what happened, answers of the report."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orbit_fleet.engines import query
from orbit_fleet.lake import Lake
from orbit_fleet.report import Answer, questions, report
from orbit_fleet.site.places import KINDS, Places, repository_url
from orbit_registry.errors import plural
from orbit_registry.model.kind import KindTable
from orbit_registry.model.record import Record
from orbit_registry.site.feeds import ENTRIES
from orbit_registry.site.markdown_words import escaped, link
from orbit_registry.site.urls import safe_segment

AREAS, EVENTS = "areas/", "events/"
MOST = 2000
"""Rows of a table; a larger page is slow to open. The pages of repositories have all records."""
ANSWERS = 500
"""Rows of an answer of the report."""
_ON_HOME = 20
_RECORDS = f"""
SELECT repository, id, kind FROM records
WHERE NOT is_copy AND kind IN {KINDS} AND json_valid(data)
"""
_REPOSITORIES = """
SELECT
    m.repository, m.records, m.extends, m.committed_at,
    COUNT(r.id) AS decisions, MAX(r.date) AS newest
FROM repositories AS m
LEFT JOIN records AS r ON r.repository = m.repository AND r.kind = 'adr'
WHERE NOT m.is_copy AND m.records > 0
GROUP BY ALL
ORDER BY m.repository
"""
_AREAS = """
SELECT DISTINCT a.area, r.repository, r.id, r.title, r.status, r.phase
FROM records AS r
JOIN (
    SELECT repository, record_id, value AS area FROM scopes WHERE axis = 'tag'
    UNION
    SELECT repository, id, feature FROM records WHERE feature <> ''
) AS a ON a.repository = r.repository AND a.record_id = r.id
WHERE r.kind = 'adr' AND NOT r.is_copy
ORDER BY a.area, r.phase <> 'live', r.repository, r.id
"""
_EVENTS = f"""
SELECT repository, id, kind, title, sentence, status, author, day, data, path
FROM (
    SELECT *, CASE
        WHEN author_role = 'import' THEN date
        ELSE strftime(updated_at, '%Y-%m-%d')
    END AS day
    FROM records
    WHERE kind IN {KINDS} AND NOT is_copy AND json_valid(data)
)
WHERE day IS NOT NULL
ORDER BY day DESC, repository, id
LIMIT 500
"""
_WEB = re.compile(r"https?://[^\s<>\"()\\]+\Z")
_NAMED = re.compile(r"(\S+) (\S+)(?: (.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page over all repositories: its text is Markdown, its links begin at the site's top."""

    url: str
    title: str
    text: str


Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Overview:
    """What the lists are made from."""

    title: str
    places: Places
    repositories: Sequence[Row]
    areas: Mapping[str, Sequence[Row]]
    events: Sequence[Row]
    answers: Sequence[Answer]


def overview_of(lake: Lake, kinds: KindTable, title: str) -> Overview:
    """Return what a lake has over all repositories."""
    repositories = query(lake, _REPOSITORIES).as_data()
    records = {}
    for row in query(lake, _RECORDS).as_data():
        records[str(row["repository"]), str(row["id"])] = str(row["kind"])

    names = frozenset(str(row["repository"]) for row in repositories)
    areas: dict[str, list[Row]] = {}
    for row in query(lake, _AREAS).as_data():
        areas.setdefault(str(row["area"]), []).append(row)

    places = Places(kinds, records, names)
    events = query(lake, _EVENTS).as_data()
    return Overview(title, places, repositories, areas, events, report(lake, None, rows=ANSWERS))


def navigation() -> dict[str, str]:
    """Return the titles of the pages that each page leads to, by their URLs."""
    pages = {"": "Home", "repositories/": "Repositories", AREAS: "Areas", EVENTS: "Events"}
    return pages | {f"{each.name}/": each.title for each in questions().values()}


def list_pages(overview: Overview) -> Iterator[ListPage]:
    """Yield each page."""
    yield ListPage("", overview.title, "\n\n".join(_home(overview)))
    titles = navigation()
    rows = _repository_rows(overview, overview.repositories)
    yield _listed("repositories/", titles, _REPOSITORY_HEADS, rows)
    yield _listed(AREAS, titles, ("area", "decisions", "repositories"), _area_rows(overview))
    yield _listed(EVENTS, titles, _EVENT_HEADS, _event_rows(overview, overview.events))

    for area, decisions in overview.areas.items():
        rows = [_decision(overview, row) for row in decisions]
        heads = ("repository", "decision", "status")
        url = _area_url(area)
        yield _listed(url, {url: f"Area: {area}"}, heads, rows)

    for answer in overview.answers:
        text = "\n\n".join([f"# {escaped(answer.question.title)}", *_answer(overview, answer)])
        yield ListPage(f"{answer.question.name}/", answer.question.title, text)


def _listed(
    url: str, titles: Mapping[str, str], heads: Sequence[str], rows: Sequence[Sequence[str]]
) -> ListPage:
    text = f"# {escaped(titles[url])}\n\n{table(heads, rows[:MOST])}"
    if len(rows) > MOST:
        text += (
            f"\n\nThese are the first {MOST} of {len(rows)}; the pages of repositories have all."
        )

    return ListPage(url, titles[url], text)


_REPOSITORY_HEADS = ("repository", "decisions", "records", "newest", "inherits", "commit of")


def _repository_rows(overview: Overview, rows: Sequence[Row]) -> list[list[str]]:
    result = []
    for row in rows:
        cells = (row[name] for name in ("decisions", "records", "newest", "extends"))
        name = _cell(overview, row["repository"])
        result.append([name, *map(_text, cells), _text(row["committed_at"])[:10]])

    return result


def _area_url(area: str) -> str:
    return f"{AREAS}{safe_segment(area)}/"


def _area_rows(overview: Overview) -> list[list[str]]:
    rows = []
    for area, decisions in sorted(overview.areas.items(), key=lambda each: -len(each[1])):
        repositories = {row["repository"] for row in decisions}
        name = link(escaped(area), f"/{_area_url(area)}")
        rows.append([name, str(len(decisions)), str(len(repositories))])

    return rows


_EVENT_HEADS = ("day", "repository", "record", "status", "by")


def _event_rows(overview: Overview, events: Sequence[Row]) -> list[list[str]]:
    rows = []
    for row in events:
        repository, record, status = _decision(overview, row)
        rows.append([_text(row["day"]), repository, record, status, _text(row["author"])])

    return rows


def _decision(overview: Overview, row: Row) -> list[str]:
    repository = str(row["repository"])
    name = _record(overview, repository, str(row["id"]), str(row["title"]))
    return [_cell(overview, repository), name, _text(row["status"])]


def _record(overview: Overview, repository: str, record_id: str, title: str) -> str:
    words = escaped(f"{record_id} {title}".strip())
    url = overview.places.record(repository, record_id)
    return link(words, f"/{url}") if url else words


def feed_records(overview: Overview) -> Iterator[Record]:
    """Yield the records of the feed: those to which something happened last."""
    for row in overview.events[:ENTRIES]:
        kind = overview.places.kinds[str(row["kind"])]
        repository, record_id = str(row["repository"]), str(row["id"])
        data = json.loads(str(row["data"]))
        data |= {"status": row["status"], "updated_at": f"{row['day']}T00:00:00Z"}
        data[kind.headline] = f"{row['title']} ({repository})"
        url = overview.places.record(repository, record_id)
        yield Record(kind, data, str(row["path"]), str(row["sentence"] or ""), page=url)


def _home(overview: Overview) -> Iterator[str]:
    decisions = sum(int(str(row["decisions"])) for row in overview.repositories)
    yield f"# {escaped(overview.title)}"
    repositories = plural(len(overview.repositories), "repository", "repositories")
    yield f"{plural(decisions, 'decision')} in {repositories}."

    answers = {answer.question.name: answer for answer in overview.answers}
    contradictions = len(answers["contradictions"].result.rows)
    attention = Counter(str(row["state"]) for row in answers["members"].result.as_data())
    facts = [link(f"{count} {state}", "/members/") for state, count in attention.items()]
    if contradictions:
        facts.insert(0, link(plural(contradictions, "contradiction"), "/contradictions/"))

    if facts:
        yield f"Of note: {', '.join(facts)}."

    if overview.areas:
        yield "## Areas"
        rows = _area_rows(overview)[:_ON_HOME]
        yield ", ".join(f"{name} ({count})" for name, count, _ in rows)

    yield "## Lately"
    yield table(_EVENT_HEADS, _event_rows(overview, overview.events[:_ON_HOME]))
    yield "## Repositories"
    most = sorted(overview.repositories, key=lambda row: -int(str(row["decisions"])))[:_ON_HOME]
    yield table(_REPOSITORY_HEADS, _repository_rows(overview, most))
    yield link("All repositories", "/repositories/")


def _answer(overview: Overview, answer: Answer) -> Iterator[str]:
    yield escaped(answer.question.answers)
    result = answer.result
    if not result.rows:
        yield "Nothing found."
    elif "example_against" in result.columns:
        yield from _sides(overview, result.as_data())
    else:
        heads = [name.replace("_", " ") for name in result.columns]
        yield table(heads, [_cells(overview, row) for row in result.rows])

    if result.is_cut:
        command = f"`orbit fleet report {answer.question.name} --rows N`"
        yield f"These are the first {ANSWERS}; {command} shows more."


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose cells are Markdown."""
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    for row in rows:
        lines.append(" | ".join(cell.replace("|", "\\|") for cell in row))

    return "\n".join(f"| {line} |" for line in lines)


def _cells(overview: Overview, row: Sequence[object]) -> list[str]:
    return [_cell(overview, value) for value in row]


def _sides(overview: Overview, rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield f"## {escaped(str(row['topic']))}"
        for side in ("for", "against"):
            count = row[f"repositories_{side}"]
            yield f"{side.capitalize()}: {count}. {_cell(overview, row[f'example_{side}'])}"
            quote = " ".join(_text(row[f"quote_{side}"]).split())
            url = str(row[f"url_{side}"] or "")
            source = link("document", url) if _WEB.match(url) else ""
            words = " ".join(filter(None, (quote, source)))
            yield f"> {words}" if words else ""


def _cell(overview: Overview, value: object) -> str:
    """Return a value as Markdown: a repository, or a record after its repository, as a link."""
    text = _plain(value)
    if text in overview.places.repositories:
        return link(escaped(text), f"/{repository_url(text)}")
    if _WEB.match(text):
        return link("document", text)

    match = _NAMED.fullmatch(text)
    if match and overview.places.record(match[1], match[2]):
        repository = link(escaped(match[1]), f"/{repository_url(match[1])}")
        return f"{repository} {_record(overview, match[1], match[2], match[3] or '')}"

    return escaped(text)


def _text(value: object) -> str:
    return escaped(_plain(value))


def _plain(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())
