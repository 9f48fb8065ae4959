"""Each form of the publish filter, over a record of every kind: what it withholds is in no byte of the site."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from tests.acceptance.site_cases import copied, with_every_kind

from orbit_registry.records.record import Record
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

HELD = ("accepted", "active", "approved")
FORMS: dict[str, tuple[str, Callable[[Record], bool]]] = {
    "one kind": ("{kinds: [adr]}", lambda one: one.kind.name == "adr"),
    "two kinds": ("{kinds: [learning, rule]}", lambda one: one.kind.name in ("learning", "rule")),
    "all kinds but one": ('{kinds: ["!resource"]}', lambda one: one.kind.name != "resource"),
    "all kinds but two": ('{kinds: ["!adr", "!failure"]}', lambda one: one.kind.name not in ("adr", "failure")),
    "some statuses": ("{statuses: [accepted, active, approved]}", lambda one: one.status.name in HELD),
    "all statuses but one": ('{statuses: ["!superseded"]}', lambda one: one.status.name != "superseded"),
    "one tag": ("{tags: [storage]}", lambda one: "storage" in tags_of(one)),
    "all tags but one": ('{tags: ["!storage"]}', lambda one: "storage" not in tags_of(one)),
    "all of it": (
        '{kinds: ["!rule"], statuses: [accepted, active, approved], tags: ["!storage"]}',
        lambda one: one.kind.name != "rule" and one.status.name in HELD and "storage" not in tags_of(one),
    ),
}
SAID_ANYWAY = {"ADR-0001"}
"""The example that the page for missing addresses gives."""
LEAST = 25
"""Characters of a line that are enough to tell it from others."""


def tags_of(record: Record) -> set[str]:
    """Return what the filter of tags looks at."""
    return {*record.tags, *record.words("labels")}


def lines_of(value: object) -> Iterator[str]:
    """Yield the lines of the texts in a value, but for dates, addresses and the names of documents, which are pages."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        for inner in value:
            yield from lines_of(inner)
    elif isinstance(value, str):
        lines = (line.strip("-*# ") for line in value.splitlines())
        yield from (line for line in lines if len(line) > LEAST and not line.startswith(("20", "http", "docs/design/")))


def words_of(record: Record) -> set[str]:
    """Return what tells a record: its names, its title, and each line of it that is long enough."""
    names = {record.id, str(record.data["uid"]), *record.legacy_ids, record.title}
    return {*names, *lines_of({**record.data}), *lines_of(record.prose)} - SAID_ANYWAY


def said_in(file: Path) -> str:
    """Return what a file says: its text, or the rows of a database."""
    if file.suffix != ".duckdb":
        return file.read_bytes().decode("utf-8", "replace")
    with duckdb.connect(str(file), read_only=True) as held:
        tables = [name for (name,) in held.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return repr([held.execute(f'FROM "{name}"').fetchall() for name in tables])


@pytest.mark.parametrize("name", FORMS)
def test_what_a_form_of_the_filter_withholds_is_nowhere(name: str, tmp_path: Path) -> None:
    """No name, title or line of it is in a page, feed, index, search text or table; what is published is there."""
    section, is_published = FORMS[name]
    root = with_every_kind(copied("demo", tmp_path / "repo"))
    config = root / ".orbit/config.yaml"
    config.write_text(f"{config.read_text('utf-8')}  publish: {section}\n", "utf-8")
    records = [*Registry.open(root).records]
    kept = [one for one in records if is_published(one)]
    public = "\n".join(f"{one.data} {one.prose}" for one in kept)
    withheld = {word for one in records if one not in kept for word in words_of(one) if word not in public}
    assert kept
    assert withheld

    build_site(Registry.open(root), tmp_path / "site", "https://example.org/")

    files = [file for file in (tmp_path / "site").rglob("*") if file.is_file()]
    said = {file: f"{file.relative_to(tmp_path)}\n{said_in(file)}" for file in files}
    assert [f"{file}: {word}" for file, text in said.items() for word in withheld if word in text] == []
    shown = [one for one in kept if one.status.shown]
    assert [one.id for one in shown if not any(one.id in text for text in said.values())] == []
