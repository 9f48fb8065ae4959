"""Site of a lake: a page for each question of the report,
as Markdown tables that the usual build makes pages of.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from orbit_registry.errors import plural
from orbit_registry.fleet.database import query
from orbit_registry.fleet.lake import Lake
from orbit_registry.fleet.report import Answer, report
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.site.config import default_config
from orbit_registry.site.output import SiteResult
from orbit_registry.workspace.workspace import CONFIG

MOST = 2000  # rows of a table; a larger page is slow to open
HOME = ("states",)  # questions whose answers are on the first page
_REPOSITORIES = (
    "SELECT repository, records, extends AS inherits, committed_at FROM repositories ORDER BY 1"
)
_DECISIONS = (
    "SELECT repository, id, title, status, date FROM records WHERE kind = 'adr' ORDER "
    "BY repository, id"
)
_SPECIAL = re.compile(r"[][\\`*_{}<>&|~!^=$#]")


def build_fleet_site(lake: Lake, out: Path, title: str, base_url: str | None = None) -> SiteResult:
    """Write the site of a lake to a folder."""
    with tempfile.TemporaryDirectory(prefix="orbit-fleet-") as name:
        root = Path(name).resolve()
        pages = dict(_pages(lake, title))
        config = {"format": "orbit-registry", "schema_version": 1, "project": title}
        nav = [{_title(text): path} for path, text in pages.items()]
        files = {f"docs/{path}": text for path, text in pages.items()}
        files |= {CONFIG: json.dumps(config), "mkdocs.yml": json.dumps(default_config(title, nav))}

        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")

        return build_site(Registry.open(root), out, base_url, snapshot=False)


def _pages(lake: Lake, title: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each page, the first page first."""
    answers = report(lake, None, rows=MOST)
    repositories, decisions = (query(lake, sql) for sql in (_REPOSITORIES, _DECISIONS))
    home = [
        f"# {_text(title)}",
        f"Repositories: {len(repositories.rows)}. Decisions: {len(decisions.rows)}.",
    ]
    home += [part for each in answers if each.question.name in HOME for part in _answer(each, "##")]
    home += ["## Repositories", _table(repositories.columns, repositories.rows)]
    yield "index.md", "\n\n".join(home)

    yield "decisions.md", "\n\n".join(["# Decisions", *_by_repository(decisions.rows)])

    for each in answers:
        if each.question.name not in HOME:
            yield f"{each.question.name}.md", "\n\n".join(_answer(each, "#"))


def _by_repository(rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yield a section for each repository, so that search leads to it."""
    sections: dict[str, list[Sequence[object]]] = {}
    for repository, *values in rows[:MOST]:
        sections.setdefault(str(repository), []).append(values)

    for repository, section in sections.items():
        yield f"## {_text(repository)}"
        yield _table(("id", "title", "status", "date"), section)

    if len(rows) > MOST:
        every = plural(len(rows), "decision")
        yield f"These are {MOST} of {every}; `orbit fleet query` finds the others."


def _answer(answer: Answer, mark: str) -> Iterator[str]:
    yield f"{mark} {_text(answer.question.title)}"
    yield _text(answer.question.answers)
    yield _table(answer.result.columns, answer.result.rows)
    if answer.result.is_cut:
        yield (
            f"These are the first {MOST}; `orbit fleet report {answer.question.name} --rows "
            f"N` shows more."
        )


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    if not rows:
        return "Nothing found."

    head = [
        " | ".join(_text(name.replace("_", " ")) for name in columns),
        " | ".join("---" for _ in columns),
    ]
    lines = [
        *head,
        *(" | ".join(_text("" if value is None else str(value)) for value in row) for row in rows),
    ]
    return "\n".join(f"| {line} |" for line in lines)


def _text(text: str) -> str:
    """Return a text of a lake so that Markdown and HTML show it and read nothing in it."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", " ".join(text.split()))


def _title(page: str) -> str:
    return re.sub(
        r"&#(\d+);", lambda match: chr(int(match[1])), page.partition("\n")[0].lstrip("# ")
    )
