"""Site of a lake: what the report finds, and a page of decisions for each repository, as Markdown
that the usual build makes pages of.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path

from orbit_fleet.database import query
from orbit_fleet.lake import Lake
from orbit_fleet.report import Answer, report
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.config import default_config
from orbit_registry.site.output import SiteResult
from orbit_registry.workspace.workspace import CONFIG

MOST = 2000
"""Rows of a table; a larger page is slow to open."""
HOME = ("states", "members")
"""Questions whose answers are on the first page."""
_REPOSITORIES = (
    "SELECT repository, records, extends AS inherits, committed_at FROM repositories "
    "WHERE NOT is_copy AND records > 0 ORDER BY 1"
)
_RECORDS = """
SELECT r.repository, r.id, r.kind, r.title, r.status, r.date, r.sentence, r.url
FROM records AS r
WHERE NOT r.is_copy AND r.kind IN ('adr', 'learning', 'rule')
ORDER BY r.repository, r.kind, r.phase <> 'live', r.id
"""
_LATELY = """
SELECT repository, id, title, status, date
FROM records
WHERE kind = 'adr' AND NOT is_copy AND date IS NOT NULL
ORDER BY date DESC, repository, id
LIMIT 20
"""
_SPECIAL = re.compile(r"[][\\`*_{}<>&|~!^=$#]")
_WEB = re.compile(r"https?://[^\s<>\"()\\]+\Z")


def build_fleet_site(lake: Lake, out: Path, title: str, base_url: str | None = None) -> SiteResult:
    """Write the site of a lake to a folder."""
    with tempfile.TemporaryDirectory(prefix="orbit-fleet-") as name:
        root = Path(name).resolve()
        pages = dict(_pages(lake, title))
        config = {"format": "orbit-registry", "schema_version": 1, "project": title}
        nav = [{_title(text): path} for path, text in pages.items() if "/" not in path]
        files = {f"docs/{path}": text for path, text in pages.items()}
        files |= {CONFIG: json.dumps(config), "mkdocs.yml": json.dumps(default_config(title, nav))}

        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")

        return build_site(Registry.open(root), out, base_url, snapshot=False)


def _pages(lake: Lake, title: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each page, the first page first."""
    answers = report(lake, None, rows=MOST)
    repositories = query(lake, _REPOSITORIES).as_data()
    lately = query(lake, _LATELY)
    sections = _by_repository(query(lake, _RECORDS).as_data())
    kinds = [row["kind"] for row in chain.from_iterable(sections.values())]
    decisions = kinds.count("adr")

    home = [
        f"# {_text(title)}",
        f"Repositories: {len(repositories)}. Decisions: {decisions}.",
        "## Lately",
        _table(lately.columns, lately.rows),
    ]
    for each in answers:
        if each.question.name in HOME:
            home += _answer(each, "##")

    columns = ("repository", "records", "inherits", "committed_at")
    listed = list(map(itemgetter(*columns), repositories[:MOST]))
    home += ["## Repositories", _table(columns, listed)]
    yield "index.md", "\n\n".join(home)

    yield "decisions.md", "\n\n".join(["# Decisions", *_list(repositories, sections)])

    for each in answers:
        if each.question.name not in HOME:
            yield f"{each.question.name}.md", "\n\n".join(_answer(each, "#"))

    for name, rows in sections.items():
        yield f"{_path(name)}.md", "\n\n".join(_repository(name, rows))


def _by_repository(rows: Sequence[Mapping[str, object]]) -> dict[str, list[Mapping[str, object]]]:
    sections: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        sections.setdefault(str(row["repository"]), []).append(row)

    return sections


def _path(repository: str) -> str:
    """Return the path of a repository's page, without what Markdown or the web reads in it."""
    return "repositories/" + re.sub(r"[^A-Za-z0-9/-]+", "-", repository).strip("/-").lower()


def _list(
    repositories: Sequence[Mapping[str, object]],
    sections: Mapping[str, Sequence[Mapping[str, object]]],
) -> Iterator[str]:
    """Yield a line for each repository, so that search leads to its page."""
    for row in repositories:
        name = str(row["repository"])
        count = sum(each["kind"] == "adr" for each in sections.get(name, ()))
        if name in sections:
            yield f"- [{_text(name)}]({_path(name)}.md): {count}"


def _repository(name: str, rows: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Yield the page of a repository: each record with its sentence and its link."""
    yield f"# {_text(name)}"
    for row in rows:
        title = f"{_text(str(row['id']))} {_text(str(row['title']))}"
        yield f"## {title}"
        if row["sentence"]:
            yield _text(str(row["sentence"]))

        status = " · ".join(_text(str(row[key])) for key in ("status", "date") if row[key])
        url = str(row["url"] or "")
        link = f" · [document]({url})" if _WEB.match(url) else ""
        yield f"{status}{link}"


def _answer(answer: Answer, mark: str) -> Iterator[str]:
    yield f"{mark} {_text(answer.question.title)}"
    yield _text(answer.question.answers)
    yield _table(answer.result.columns, answer.result.rows)
    if answer.result.is_cut:
        command = f"`orbit fleet report {answer.question.name} --rows N`"
        yield f"These are the first {MOST}; {command} shows more."


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    if not rows:
        return "Nothing found."

    lines = [
        " | ".join(_text(name.replace("_", " ")) for name in columns),
        " | ".join("---" for _ in columns),
    ]
    lines += map(_line, rows)
    return "\n".join(f"| {line} |" for line in lines)


def _line(row: Sequence[object]) -> str:
    return " | ".join(map(_cell, row))


def _cell(value: object) -> str:
    return "" if value is None else _text(str(value))


def _text(text: str) -> str:
    """Return a text of a lake so that Markdown and HTML show it and read nothing in it."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", " ".join(text.split()))


def _title(page: str) -> str:
    return re.sub(
        r"&#(\d+);", lambda match: chr(int(match[1])), page.partition("\n")[0].lstrip("# ")
    )
