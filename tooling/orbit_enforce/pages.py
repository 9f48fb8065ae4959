"""Checks of records on the site: what a record's page shows of them,
and the page of enforced decisions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

from orbit_enforce.allowances import Allow, allows_in
from orbit_enforce.coverage import CLASSES, enforcement
from orbit_enforce.evidence import read_evidence, replay_text
from orbit_enforce.kind import FILE_LIMIT
from orbit_enforce.spec import DecisionCheck, checks_of
from orbit_registry.errors import OrbitError
from orbit_registry.formats.globs import Glob
from orbit_registry.formats.untrusted import cut
from orbit_registry.model.record import Record
from orbit_registry.site.health import bar
from orbit_registry.site.language import capital, counted, digits, word, word_or
from orbit_registry.site.list_markdown import record_link
from orbit_registry.site.markdown_words import inline, table
from orbit_registry.site.published import Published
from orbit_registry.site.sanitize import headline
from orbit_registry.site.sitemap import SiteMap, url_of
from orbit_registry.site.twins import TwinLinks
from orbit_registry.site.urls import relative
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

    try:
        evidence = read_evidence(publication.workspace)
    except OrbitError:
        evidence = {}

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
            "rows": [_row(check, evidence.get(check.name)) for check in checks],
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
    return word("enforced.errors", text=text, n=errors) if errors else text


def _class_words(name: str) -> tuple[str, str]:
    """Return what readers call a class of decisions, and what it means."""
    key = f"class.{name.replace(' ', '-')}"
    return word_or(key, name), word_or(f"{key}.what", CLASSES[name])


def _row(check: DecisionCheck, evidence: Mapping[str, Any] | None) -> dict[str, Any]:
    source = f"{check.body['engine']}: {check.body['rule']}" if check.is_reference else ""
    row = {
        "id": check.id,
        "level": source or check.level,
        "kind": check.kind.name,
        "say": check.say if check.say != check.record.title else "",
        "files": [_glob_text(glob) for glob in check.globs],
        "evidence": replay_text(check, evidence) if evidence else "",
    }
    for name in ("passes", "fails"):
        row[name] = [_example(example) for example in check.fields.get(name, ())]

    return row


def _classified(record: Record, name: str, reason: str) -> str:
    href = escape(relative(PAGE, url_of(record)))
    return (
        f'<tr><td class="orbit-col-id"><a href="{href}">'
        f'<span class="orbit-id">{escape(record.id)}</span></a></td>'
        f'<td class="orbit-col-title">{headline(record.title)}</td><td '
        f'class="orbit-col-class">{_class_words(name)[0]}</td>'
        f'<td class="orbit-col-why">{headline(reason)}</td></tr>'
    )


def _glob_text(glob: Glob) -> str:
    return f"!{glob.text.lstrip('!')}" if glob.exclude else glob.text


def _example(example: object) -> str:
    text = (
        f"{example['at']}: {example.get('text', '')}" if isinstance(example, dict) else str(example)
    )
    return cut(text, LONGEST_EXAMPLE)


def is_wanted(records: Iterable[Record]) -> bool:
    """Return whether the site has the page of enforced decisions."""
    return any("checks" in record.data for record in records)


def enforced_html(data: Published, _: str) -> str:
    """Return the content of the page: the share, the number of each class,
    and the class of each live decision.
    """
    result = enforcement(data.context.sources.publication.workspace, data.records)
    counts = result.counts
    most = max(counts.values(), default=1)
    bars = "".join(_bar(name, counts[name], most) for name in CLASSES)

    order = list(CLASSES)
    in_order = sorted(result.classes, key=lambda row: (order.index(row.name), row.record.id))
    rows = "".join(_classified(row.record, row.name, row.reason) for row in in_order)

    names = [
        word("health.id"),
        capital(word("kind.adr.thing")),
        word("enforced.class"),
        word("enforced.checks"),
    ]
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    share = word("enforced.share", share=f"<b>{result.share:.0%}</b>")
    return (
        f'<p class="orbit-verdict">{share}</p>'
        f'<table class="orbit-index orbit-bars"><tbody>{bars}</tbody></table>'
        f'<div class="orbit-scroll"><table class="orbit-index '
        f'orbit-concern"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _bar(name: str, count: int, most: int) -> str:
    text, what = _class_words(name)
    return (
        f"<tr><td>{text}<br><small>{what}</small></td><td>{bar(count, count, most)}</td>"
        f"<td>{digits(count)}</td></tr>"
    )


def enforced_markdown(data: Published, links: TwinLinks) -> str:
    """Return the same as Markdown."""
    result = enforcement(data.context.sources.publication.workspace, data.records)
    order = list(CLASSES)
    classes = sorted(result.classes, key=lambda row: (order.index(row.name), row.record.id))
    rows = [(record_link(row.record, links), row.name, inline(row.reason)) for row in classes]
    counts = "\n".join(
        f"- {name}: {result.counts[name]:,} ({words})" for name, words in CLASSES.items()
    )
    share = f"**{result.share:.0%}** of the decisions that can be checked are enforced."
    listed = table(("Decision", "Class", "Checks, or why none"), rows)
    return "\n\n".join([share, counts, listed])
