"""Checks of records on the site: what a record's page shows of them,
and the page of enforced decisions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from orbit_enforce.allowances import Allow, allows_in
from orbit_enforce.coverage import CLASSES, Classified, Enforcement, enforcement
from orbit_enforce.kind import FILE_LIMIT
from orbit_enforce.spec import DecisionCheck, checks_of
from orbit_registry.formats.globs import Glob
from orbit_registry.formats.untrusted import cut
from orbit_registry.model.record import Record
from orbit_registry.site.health import bar
from orbit_registry.site.language import capital, counted, digits, word, word_or
from orbit_registry.site.list_markdown import line
from orbit_registry.site.markdown_words import inline
from orbit_registry.site.published import Published
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import SiteMap
from orbit_registry.site.twins import TwinLinks
from orbit_registry.site.words import record_link, table_html
from orbit_registry.snapshot.publication import Publication
from orbit_registry.workspace.files import is_inside
from orbit_registry.workspace.workspace import Workspace

PAGE = "enforced/"
LONGEST_EXAMPLE = 400


def checks_by_record(
    publication: Publication, records: Iterable[Record], files: Iterable[str], site: SiteMap
) -> dict[str, dict[str, Any]]:
    """Return what the pages of records show of their checks, by the record's path;
    `files` are those that may allow.
    """
    checked = [(record, checks_of(record)) for record in records if "checks" in record.data]

    allows: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for path, value in _allows(publication.workspace, files).items():
        for allow in value:
            url = site.forge.built(path, line=allow.line)
            text = publication.text(allow.reason) or word("enforced.unreasoned")
            allows[allow.name.partition("/")[0]].append(
                {"path": path, "line": allow.line, "url": url, "text": text}
            )

    by_record = {}
    for record, checks in checked:
        covered = partial(_covers, checks)
        by_record[record.path] = {
            "badge": _badge(checks) if record.phase == "live" else "",
            "rows": [_row(check) for check in checks],
            "allows": [row for row in allows[record.id] if covered(row["path"])],
        }

    return by_record


def _covers(checks: Sequence[DecisionCheck], path: str) -> bool:
    return any(check.covers(path) for check in checks)


def _allows(workspace: Workspace, files: Iterable[str]) -> dict[str, list[Allow]]:
    """Return the allowances in files, stored or read."""

    def parse(path: str, content: bytes) -> object:
        return [*allows_in(path, content.decode("utf-8", "replace"))]

    paths = [path for path in files if is_inside(workspace.root, path)]
    rows = workspace.cache.files("allowances", workspace.root, paths, parse, limit=FILE_LIMIT)
    allows = {}
    for path, state in rows.items():
        if state.value:
            allows[path] = [Allow(*row) for row in state.value]

    return allows


def _badge(checks: Sequence[DecisionCheck]) -> str:
    """Return how strongly a record is enforced: enforced by 2 checks (1 error)."""
    weighty = [check for check in checks if check.is_reference or check.level != "advice"]
    errors = sum(check.level == "error" for check in weighty)
    if not weighty:
        return counted("enforced.advised", len(checks))

    text = counted("enforced.badge", len(weighty))
    if errors:
        return word("enforced.errors", text=text, n=errors)

    return text


def _class_words(name: str) -> tuple[str, str]:
    """Return what readers call a class of decisions, and what it means."""
    key = f"class.{name.replace(' ', '-')}"
    return word_or(key, name), word_or(f"{key}.what", CLASSES[name])


def _row(check: DecisionCheck) -> dict[str, Any]:
    source = f"{check.body['engine']}: {check.body['rule']}" if check.is_reference else ""
    row = {
        "id": check.id,
        "level": source or check.level,
        "kind": check.kind.name,
        "say": check.say if check.say != check.record.title else "",
        "files": [_glob_text(glob) for glob in check.globs],
    }
    for name in ("passes", "fails"):
        row[name] = [_example(example) for example in check.fields.get(name, ())]

    return row


def _glob_text(glob: Glob) -> str:
    if glob.exclude:
        return f"!{glob.text.lstrip('!')}"

    return glob.text


def _example(example: object) -> str:
    if isinstance(example, dict):
        text = f"{example['at']}: {example.get('text', '')}"
    else:
        text = str(example)

    return cut(text, LONGEST_EXAMPLE)


def is_wanted(records: Iterable[Record]) -> bool:
    """Return whether the site has the page of enforced decisions."""
    return any("checks" in record.data for record in records)


def _in_order(result: Enforcement) -> list[Classified]:
    order = list(CLASSES)
    return sorted(result.classes, key=lambda row: (order.index(row.name), row.record.id))


def enforced_html(data: Published, _: str) -> str:
    """Return the content of the page: the share, the number of each class,
    and the class of each live decision.
    """
    result = enforcement(data.context.sources.publication.workspace, data.records)
    counts = result.counts
    most = max(counts.values(), default=1)
    bars = "".join(_bar(name, counts[name], most) for name in CLASSES)

    share = word("enforced.share", share=f"<b>{result.share:.0%}</b>")
    columns = (
        ("orbit-col-title", capital(word("kind.adr.thing"))),
        ("orbit-col-class", word("enforced.class")),
        ("orbit-col-why", word("enforced.checks")),
    )
    rows = [
        (record_link(row.record, PAGE), _class_words(row.name)[0], headline(row.reason))
        for row in _in_order(result)
    ]
    return (
        f'<p class="orbit-verdict">{share}</p>'
        f'<table class="orbit-index orbit-bars"><tbody>{bars}</tbody></table>'
        f"{table_html('orbit-concern', columns, rows)}"
    )


def _bar(name: str, count: int, most: int) -> str:
    text, what = _class_words(name)
    return (
        f"<tr><td>{text}<br><small>{what}</small></td><td>{bar(count, count, most)}</td>"
        f"<td>{digits(count)}</td></tr>"
    )


def enforced_markdown(data: Published, links: TwinLinks) -> str:
    """Return the share, and the class of each live decision, as Markdown."""
    result = enforcement(data.context.sources.publication.workspace, data.records)
    share = word("enforced.share", share=f"**{result.share:.0%}**")
    lines = [
        line(row.record, f"{_class_words(row.name)[0]}: {inline(row.reason)}", links)
        for row in _in_order(result)
    ]
    return "\n".join([share, "", *lines])
