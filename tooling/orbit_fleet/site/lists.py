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

AREAS = "areas/"
_FIRST = (
    "repositories",
    "events",
    "areas",
    "contradictions",
    "repeated-decisions",
    "oldest",
    "coverage",
    "states",
    "inheritance",
    "overrides",
    "repeated-learnings",
    "votes",
    "members",
)
"""Questions in the order in which the navigation has them: what there is, what is decided, how it
is followed. Others come after these.
"""
MOST = 2000
"""Rows of a table; a larger page is slow to open. The pages of repositories have all records."""
_ON_HOME = 20
_RECORDS = f"""
SELECT repository, id, kind FROM records
WHERE NOT is_copy AND kind IN {KINDS} AND json_valid(data)
"""
_NAMES = "SELECT repository FROM repositories WHERE NOT is_copy AND records > 0"
_AREAS = """
SELECT DISTINCT a.area, CONCAT(r.repository, ' ', r.id, ' ', r.title) AS decision, r.status, r.phase <> 'live' AS is_last
FROM records AS r
JOIN (
    SELECT repository, record_id, value AS area FROM scopes WHERE axis = 'tag'
    UNION
    SELECT repository, id, feature FROM records WHERE feature <> ''
) AS a ON a.repository = r.repository AND a.record_id = r.id
WHERE r.kind = 'adr' AND NOT r.is_copy
ORDER BY a.area, is_last, decision
"""  # noqa: E501
_NEWEST = f"""
SELECT repository, id, kind, title, sentence, status, data, path, CASE
    WHEN author_role = 'import' THEN date
    ELSE strftime(updated_at, '%Y-%m-%d')
END AS day
FROM records
WHERE kind IN {KINDS} AND NOT is_copy AND json_valid(data) AND day IS NOT NULL
ORDER BY day DESC, repository, id
LIMIT {ENTRIES}
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
    areas: Mapping[str, Sequence[tuple[str, str]]]
    """Decisions and their statuses by area."""
    newest: Sequence[Row]
    answers: Mapping[str, Answer]


def names_in(lake: Lake) -> frozenset[str]:
    """Return the names of the repositories that have pages."""
    return frozenset(str(name) for (name,) in query(lake, _NAMES).rows)


def overview_of(lake: Lake, kinds: KindTable, title: str, names: frozenset[str]) -> Overview:
    """Return what a lake has over all repositories, of which those with a name have pages."""
    records = {}
    for repository, record_id, kind in query(lake, _RECORDS).rows:
        records[str(repository), str(record_id)] = str(kind)

    areas: dict[str, list[tuple[str, str]]] = {}
    for area, decision, status, _ in query(lake, _AREAS).rows:
        areas.setdefault(str(area), []).append((str(decision), str(status)))

    newest = query(lake, _NEWEST).as_data()
    answers = {answer.question.name: answer for answer in report(lake, None, rows=MOST)}
    return Overview(title, Places(kinds, records, names), areas, newest, answers)


def navigation() -> dict[str, str]:
    """Return the titles of the pages that each page leads to, by their URLs."""
    known = questions()
    names = [name for name in _FIRST if name in known]
    names += [name for name in known if name not in names]
    return {"": "Home", **{f"{name}/": known[name].title for name in names}}


def list_pages(overview: Overview) -> Iterator[ListPage]:
    """Yield each page."""
    yield ListPage("", overview.title, "\n\n".join(_home(overview)))
    for answer in overview.answers.values():
        text = "\n\n".join([f"# {escaped(answer.question.title)}", *_answer(overview, answer)])
        yield ListPage(f"{answer.question.name}/", answer.question.title, text)

    for area, decisions in overview.areas.items():
        title = f"Area: {area}"
        rows = table(overview, ("decision", "status"), decisions[:MOST])
        yield ListPage(_area_url(area), title, f"# {escaped(title)}\n\n{rows}")


def _area_url(area: str) -> str:
    return f"{AREAS}{safe_segment(area)}/"


def _record(overview: Overview, repository: str, record_id: str, title: str) -> str:
    words = escaped(f"{record_id} {title}".strip())
    url = overview.places.record(repository, record_id)
    if url:
        return link(words, f"/{url}")

    return words


def feed_records(overview: Overview) -> Iterator[Record]:
    """Yield the records of the feed: those to which something happened last."""
    for row in overview.newest:
        kind = overview.places.kinds[str(row["kind"])]
        repository, record_id = str(row["repository"]), str(row["id"])
        data = json.loads(str(row["data"]))
        data |= {"status": row["status"], "updated_at": f"{row['day']}T00:00:00Z"}
        data[kind.headline] = f"{row['title']} ({repository})"
        url = overview.places.record(repository, record_id)
        yield Record(kind, data, str(row["path"]), str(row["sentence"] or ""), page=url)


def _home(overview: Overview) -> Iterator[str]:
    answers = {name: answer.result for name, answer in overview.answers.items()}
    decisions = sum(kind == "adr" for kind in overview.places.records.values())
    repositories = plural(len(overview.places.repositories), "repository", "repositories")
    yield f"# {escaped(overview.title)}"
    yield f"{plural(decisions, 'decision')} in {repositories}."

    contradictions = len(answers["contradictions"].rows)
    attention = Counter(str(row["state"]) for row in answers["members"].as_data())
    facts = [link(f"{count} {state}", "/members/") for state, count in attention.items()]
    if contradictions:
        facts.insert(0, link(plural(contradictions, "contradiction"), "/contradictions/"))

    if facts:
        yield f"Of note: {', '.join(facts)}."

    for name in ("areas", "events", "repositories"):
        answer = answers[name]
        if answer.rows:
            title = overview.answers[name].question.title
            yield f"## {link(escaped(title), f'/{name}/')}"
            yield table(overview, answer.columns, answer.rows[:_ON_HOME])


def _answer(overview: Overview, answer: Answer) -> Iterator[str]:
    yield escaped(answer.question.answers)
    result = answer.result
    if not result.rows:
        yield "Nothing found."
    elif "example_against" in result.columns:
        yield from _sides(overview, result.as_data())
    else:
        yield table(overview, result.columns, result.rows)

    if result.is_cut:
        command = f"`orbit fleet report {answer.question.name} --rows N`"
        yield f"These are the first {MOST}; {command} shows more."


def table(overview: Overview, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as a table of Markdown, in which what has a page is a link."""
    lines = [" | ".join(columns).replace("_", " "), " | ".join("---" for _ in columns)]
    for row in rows:
        cells = [_cell(overview, value) for value in row]
        if columns[0] == "area":
            cells[0] = link(cells[0], f"/{_area_url(str(row[0]))}")

        lines.append(" | ".join(cell.replace("|", "\\|") for cell in cells))

    return "\n".join(f"| {line} |" for line in lines)


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
    if value is None:
        return ""

    return " ".join(str(value).split())
