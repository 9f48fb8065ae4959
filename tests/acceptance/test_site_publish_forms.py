"""Each form of the publish filter, over a record of every kind:
what it withholds is in no byte of the site.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from tests.acceptance.site_cases import copied, with_every_kind
from tests.files import write

from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site
from orbit_registry.snapshot.publication import publication_of

LIVE_STATUSES = ("accepted", "active", "approved")
FORMS: dict[str, tuple[str, Callable[[Record], bool]]] = {
    "one kind": ("{kinds: [adr]}", lambda record: record.kind.name == "adr"),
    "two kinds": (
        "{kinds: [learning, rule]}",
        lambda record: record.kind.name in ("learning", "rule"),
    ),
    "all kinds but one": ('{kinds: ["!resource"]}', lambda record: record.kind.name != "resource"),
    "all kinds but two": (
        '{kinds: ["!adr", "!failure"]}',
        lambda record: record.kind.name not in ("adr", "failure"),
    ),
    "some statuses": (
        "{statuses: [accepted, active, approved]}",
        lambda record: record.status.name in LIVE_STATUSES,
    ),
    "all statuses but one": (
        '{statuses: ["!superseded"]}',
        lambda record: record.status.name != "superseded",
    ),
    "one tag": ("{tags: [storage]}", lambda record: "storage" in tags_of(record)),
    "all tags but one": ('{tags: ["!storage"]}', lambda record: "storage" not in tags_of(record)),
    "all of it": (
        '{kinds: ["!rule"], statuses: [accepted, active, approved], tags: ["!storage"]}',
        lambda record: (
            record.kind.name != "rule"
            and record.status.name in LIVE_STATUSES
            and "storage" not in tags_of(record)
        ),
    ),
}
SAID_ANYWAY = {"ADR-0001"}
"""The example that the page for missing addresses gives."""
LEAST = 25
"""Characters of a line that are enough to tell it from others."""


def tags_of(record: Record) -> set[str]:
    return {*record.tags, *record.words("labels")}


def lines_of(value: object) -> Iterator[str]:
    """Yield the lines of the texts in a value, but for dates, addresses and the names of documents,
    which are pages.
    """
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        for inner in value:
            yield from lines_of(inner)
    elif isinstance(value, str):
        lines = (line.strip("-*# ") for line in value.splitlines())
        yield from (
            line
            for line in lines
            if len(line) > LEAST and not line.startswith(("20", "http", "docs/design/"))
        )


def words_of(record: Record) -> set[str]:
    """Return what tells a record: its names, its title, and each line of it that is long enough."""
    names = {record.id, str(record.data["uid"]), *record.legacy_ids, record.title}
    return {*names, *lines_of({**record.data}), *lines_of(record.prose)} - SAID_ANYWAY


def said_in(file: Path) -> str:
    """Return what a file says: its text, or the rows of a database."""
    if file.suffix != ".duckdb":
        return file.read_bytes().decode("utf-8", "replace")
    with duckdb.connect(str(file), read_only=True) as database:
        tables = [
            name
            for (name,) in database.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        ]
        return repr([database.execute(f'FROM "{name}"').fetchall() for name in tables])


def said_by(site: Path) -> dict[Path, str]:
    files = [file for file in site.rglob("*") if file.is_file()]
    return {file: f"{file.relative_to(site)}\n{said_in(file)}" for file in files}


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with a record of every kind; each test writes its own filter."""
    return with_every_kind(copied("demo", tmp_path_factory.mktemp("forms") / "repo"))


def write_filter(root: Path, section: str) -> Registry:
    """Put a filter in place of the one that is there, and return the registry."""
    config = root / ".orbit/config.yaml"
    config.write_text(
        f"{config.read_text('utf-8').partition('  publish:')[0]}  publish: {section}\n", "utf-8"
    )
    return Registry.open(root)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_of_the_filter_admits_what_it_names(name: str, every_kind: Path) -> None:
    section, is_published = FORMS[name]
    registry = write_filter(every_kind, section)
    publication = publication_of(registry.workspace, registry.collection)
    admitted = [record.id for record in registry.records if publication.admits(record)]
    assert admitted == [record.id for record in registry.records if is_published(record)]
    assert 0 < len(admitted) < len(registry.records)


def test_what_a_filter_withholds_is_nowhere(every_kind: Path, tmp_path: Path) -> None:
    section, is_published = FORMS["all of it"]
    registry = write_filter(every_kind, section)
    records = [*registry.records]
    published = [record for record in records if is_published(record)]
    public = "\n".join(f"{record.data} {record.prose}" for record in published)
    withheld = {
        word
        for record in records
        if record not in published
        for word in words_of(record)
        if word not in public
    }
    assert withheld

    build_site(registry, tmp_path / "site", "https://example.org/", snapshot=True)

    texts = said_by(tmp_path / "site")
    assert [
        f"{file}: {word}" for file, text in texts.items() for word in withheld if word in text
    ] == []
    expected = [record.id for record in published if record.status.shown]
    assert [name for name in expected if not any(name in text for text in texts.values())] == []


def test_a_tag_is_chosen_by_all_its_names(tmp_path: Path) -> None:
    root = copied("demo", tmp_path / "repo")
    file = root / ".orbit/adrs/ADR-0003/adr.yaml"
    file.write_text(file.read_text("utf-8").replace("[storage]", "[Disk]"), "utf-8")
    config = root / ".orbit/config.yaml"
    plain = config.read_text("utf-8")
    tagged = {
        record.id for record in Registry.open(root).records if tags_of(record) & {"storage", "Disk"}
    }
    assert "ADR-0003" in tagged
    for name in ("storage", "disk", "drive"):
        for tags, is_wanted in ((f"[{name}]", True), (f'["!{name}"]', False)):
            aliases = "tags: {aliases: {disk: storage, drive: storage}}"
            config.write_text(f"{plain}  publish: {{tags: {tags}}}\n{aliases}\n", "utf-8")
            registry = Registry.open(root)
            publication = publication_of(registry.workspace, registry.collection)
            assert {
                record.id for record in registry.records if publication.admits(record) == is_wanted
            } == tagged


UNKNOWN = {
    (
        "docs/adr/0009-merge-with-the-rival.md"
    ): "# 9. Merge with the rival\n\n## Status\n\nAccepted\n\n## Context\n",
    (
        "docs/design/other/4_decisions.md"
    ): "# Log\n\n## ADR-0098 — Move into the old harbour\n\nStatus: Accepted\n",
    ".orbit/adrs/ADR-0031/adr.yaml": (
        "schema_version: 1\nid: ADR-0031\nuid: 99c0de3b81f0845f0b0b4bd8cfa5d6c1\ntitle: Sell "
        "the harbour crane\n"
        "status: accepted\nof_later_days: 1\nlegacy_ids: [yard/ADR-0411]\nsource: {path: "
        "docs/crane-sale-terms.md}\n"
    ),
    "docs/crane-sale-terms.md": "# Terms\n",
    (
        ".orbit/adrs/ADR-0032/adr.yaml"
    ): "title: 'Pay the late pilot'\nuid: 88c0de3b81f0845f0b0b4bd8cfa5d6c1\nstatus: [\n",
}
"""Files of which nobody can say what decision they hold."""
THEIR_NAMES = (
    *(
        "Merge with the rival",
        "0009-merge-with-the-rival",
        "ADR-0098",
        "Move into the old harbour",
        "ADR-0031",
    ),
    *(
        "Sell the harbour crane",
        "yard/ADR-0411",
        "99c0de3b81f0845f0b0b4bd8cfa5d6c1",
        "crane-sale-terms",
    ),
    *("Pay the late pilot", "88c0de3b81f0845f0b0b4bd8cfa5d6c1", "ADR-0032"),
)


def test_the_names_of_what_nobody_can_judge_are_struck_out(tmp_path: Path) -> None:
    root = copied("demo", tmp_path / "repo")
    for path, text in UNKNOWN.items():
        write(root, path, text)
    links = "[it](../../adr/0009-merge-with-the-rival.md), [it](../../crane-sale-terms.md)"
    (root / "docs/design/core/README.md").write_text(
        f"# Index\n\n{links}, {', '.join(THEIR_NAMES)}.\n", "utf-8"
    )
    config = root / ".orbit/config.yaml"
    config.write_text(f"{config.read_text('utf-8')}  publish: {{tags: ['!internal']}}\n", "utf-8")

    build_site(Registry.open(root), tmp_path / "site", "https://example.org/", snapshot=True)

    files = [file for file in (tmp_path / "site").rglob("*") if file.is_file()]
    texts = {file: f"{file.relative_to(tmp_path)}\n{said_in(file)}".lower() for file in files}
    assert [
        f"{file}: {name}"
        for file, text in texts.items()
        for name in THEIR_NAMES
        if name.lower() in text
    ] == []
    assert "ADR-0001" in (tmp_path / "site/design/core/1_overview/index.html").read_text("utf-8")
