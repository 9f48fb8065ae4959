"""A site that was built again is the one built from nothing, whatever was edited,
and writes only what shows it.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from tests.acceptance.site_cases import copied
from tests.acceptance.test_site_build import build, digest
from tests.conftest import Git
from tests.files import configure

from orbit_registry.registry import Registry
from orbit_registry.repository.votes import HALF_LIFE
from orbit_registry.site.build import build_site

LEARNING, OTHER = ".orbit/learnings/L-7k3fq/learning.yaml", ".orbit/learnings/L-7k3fr/learning.yaml"
VOTES, LOG = ".orbit/learnings/L-7k3fq/votes.jsonl", "docs/design/core/4_decisions.md"
Edit = Callable[[str], str]


def put(pattern: str, text: str) -> Edit:
    return lambda content: re.sub(pattern, text, content, count=1, flags=re.MULTILINE)


def more(text: str) -> Edit:
    return lambda content: content + text


VOTE = (
    '{"learning_id":"L-7k3fq","voter_model":"m-9","voted_at":"2026-05-09T00:00:00Z",'
    '"task_id":"T-9"}\n'
)
EDITS: tuple[tuple[str, Edit], ...] = (
    (LEARNING, put("differ", "vary")),
    (LEARNING, more("priority: 7\n")),
    (OTHER, more("priority: 9\n")),
    (LEARNING, put("^priority: 7", "priority: 11")),
    (LEARNING, put("^updated_at: .*", "updated_at: 2026-06-02T00:00:00Z")),
    (VOTES, more(VOTE)),
    (LEARNING, put("ADR-0002", "ADR-0003")),
    (LEARNING, put("## Why", "## Why not")),
    (OTHER, put("ADR-0002", "L-7k3fq and [why](../L-7k3fq/learning.yaml)")),
    (LEARNING, put("^summary: .*", "summary: The importer wants UTC")),
    (OTHER, put("import\\]", "importer]")),
    (OTHER, put("src/importer", "src/other")),
    (LEARNING, put("^category: .*", "category: general")),
    (LEARNING, put("^evidence: \\[", "evidence: [{kind: task, reference: T-31}, ")),
    (LEARNING, more("supersedes: [L-7k3fr]\n")),
    (OTHER, more("legacy_ids: [core/L-001]\n")),
    (LEARNING, more("links: [{rel: related_to, to: ADR-0003}]\n")),
    (LEARNING, put("^status: active", "status: retired")),
    (".orbit/adrs/ADR-0003/adr.yaml", put("Nothing talks", "Nobody talks")),
    (LOG, more("\nSee L-7k3fr.\n")),
    (OTHER, lambda _: "summary: ["),
    (OTHER, lambda _: ""),
)
"""One record or document each; some show something to other pages, some do not."""


def two_learnings(root: Path) -> Path:
    root = copied("demo", root)
    shutil.copytree(root / Path(LEARNING).parent, root / Path(OTHER).parent)
    text = (
        (root / LEARNING).read_text("utf-8").replace("L-7k3fq", "L-7k3fr").replace("UTC", "zoned")
    )
    (root / OTHER).write_text(text.replace("89abcdef\n", "89abcd99\n"), "utf-8")
    (root / OTHER).with_name("votes.jsonl").unlink()
    return root


def test_the_site_after_each_edit_equals_a_rebuild(tmp_path: Path) -> None:
    root, out = two_learnings(tmp_path / "repo"), tmp_path / "site"
    build(root, out)
    for number, (name, edit) in enumerate(EDITS):
        file = root / name
        before = file.read_text("utf-8")
        file.write_text(edit(before), "utf-8")
        assert file.read_text("utf-8") != before
        build(root, out)
        if (
            number % 10 == 0 or number == len(EDITS) - 1
        ):  # what one build left stale is stale after the next nine
            fresh = tmp_path / f"fresh-{number}"
            build(root, fresh)
            assert digest(out) == digest(fresh), (name, number)


def test_an_untracked_file_keeps_a_record_fresh_and_is_listed(tmp_path: Path, git: Git) -> None:
    root, out = two_learnings(tmp_path / "repo"), tmp_path / "site"
    file, page = root / "src/new/a.py", "learnings/L-7k3fr/index.html"
    (root / OTHER).write_text(
        put("src/importer", "src/new")((root / OTHER).read_text("utf-8")), "utf-8"
    )
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    file.parent.mkdir(parents=True)
    other = file.with_name("b.py")
    doubted, listed = [], []
    for step in (lambda: None, file.touch, other.touch, file.unlink, other.unlink):
        step()
        build(root, out)
        fresh = tmp_path / f"fresh-{len(doubted)}"
        build(root, fresh)
        assert digest(out) == digest(fresh)
        html = (out / page).read_text("utf-8")
        doubted.append("matches no tracked file" in html)
        listed.append(re.findall(r"<summary>(\d) files?<", html))
    assert doubted == [True, False, False, False, True]
    assert listed == [[], ["1"], ["2"], ["1"], []]


def test_another_half_life_of_votes_orders_the_data_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, out = two_learnings(tmp_path / "repo"), tmp_path / "site"
    old = [
        VOTE.replace("2026-05-09", f"2025-05-0{day}").replace("T-9", f"T-{day}")
        for day in (1, 2, 3)
    ]
    (root / VOTES).write_text("".join(old), "utf-8")
    (root / OTHER).with_name("votes.jsonl").write_text(VOTE.replace("L-7k3fq", "L-7k3fr"), "utf-8")
    monkeypatch.setenv(HALF_LIFE, "100000")
    build(root, out)
    before = (out / "paths.json").read_bytes()
    monkeypatch.setenv(HALF_LIFE, "30")
    build(root, out)
    assert (out / "paths.json").read_bytes() != before
    build(root, tmp_path / "fresh")
    assert digest(out) == digest(tmp_path / "fresh")


def test_the_database_follows_an_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "orbit_registry.snapshot.export.COMPRESSION", "uncompressed"
    )  # so that bytes can be looked for
    root, out = two_learnings(tmp_path / "repo"), tmp_path / "site"
    build_site(Registry.open(root), out, snapshot=True)
    file = root / LEARNING
    for old, new in (("Because", "For that"), ("For that", "Only so")):
        file.write_text(put(old, new)(file.read_text("utf-8")), "utf-8")
        build_site(Registry.open(root), out, snapshot=True)
    database = (out / "snapshot.duckdb").read_bytes()
    assert b"Only so." in database
    assert b"For that." not in database
    assert b"Because." in database  # of the other learning
    (root / OTHER).unlink()
    build_site(Registry.open(root), out, snapshot=True)
    assert b"Because." not in (out / "snapshot.duckdb").read_bytes()


DECIDED = "docs/decisions/0003-network.md"
ITS_TEXT = """---
status: proposed
related: ADR-0001
---

# No network

## Context

Tests waited.

See ADR-0002.
"""
ITS_EDITS: tuple[Edit, ...] = (
    more("\nOne more word.\n"),
    put("waited", "hung"),
    put("See ADR-0002", "It is faster.\n\nSee ADR-0002"),
    put("ADR-0002", "[that](0004-other.md) and ADR-0004"),
    put("related: ADR-0001", "related: ADR-0002"),
    put("---\nstatus", "---\nmore: 1\nstatus"),
    put("# No network", "# Neither network nor clock"),
    lambda _: "",
    lambda _: (
        "## ADR-0007 — One\n\nStatus: Accepted\n\nSee ADR-0004.\n\n## ADR-0008 — Two\n\nStatus: "
        "Accepted\n"
    ),
    put(
        "ADR-0004", "ADR-0005"
    ),  # none of the two is known to be the record's, so the file itself cites
    lambda _: ITS_TEXT,
)


def test_the_site_after_a_documents_edits_equals_a_rebuild(tmp_path: Path, git: Git) -> None:
    root, out = two_learnings(tmp_path / "repo"), tmp_path / "site"
    record, document = root / ".orbit/adrs/ADR-0003/adr.yaml", root / DECIDED
    source = f"source: {{path: {DECIDED}, format: file, authority: document}}"
    record.write_text(put("^source: .*", source)(record.read_text("utf-8")), "utf-8")
    configure(root, "citations: ['docs/**/*.md']\n")
    document.parent.mkdir(parents=True)
    document.write_text(ITS_TEXT, "utf-8")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    build(root, out)
    for number, edit in enumerate(ITS_EDITS, 1):
        before = document.read_text("utf-8")
        document.write_text(edit(before), "utf-8")
        assert document.read_text("utf-8") != before
        is_last = number == len(ITS_EDITS)
        build_site(Registry.open(root), out, snapshot=is_last)
        if number % 5 == 0 or is_last:
            fresh = tmp_path / f"fresh-{number}"
            build_site(Registry.open(root), fresh, snapshot=is_last)
            assert pages_of(out) == pages_of(fresh), number
    assert rows_of(out) == rows_of(fresh)


def pages_of(site: Path) -> dict[str, bytes]:
    """Return the files of a site but for its database, which says when it was made."""
    return {
        path: data
        for path, data in digest(site).items()
        if path not in ("snapshot.duckdb", ".orbit-site.json")
    }


def rows_of(site: Path) -> dict[str, list[str]]:
    """Return the rows of a site's database by table,
    but for those that say when and of what it was made.
    """
    with duckdb.connect(str(site / "snapshot.duckdb"), read_only=True) as connection:
        tables = [
            str(row[0])
            for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        ]
        return {
            name: sorted(map(repr, connection.execute(f"FROM {name}").fetchall()))
            for name in tables
            if name != "meta"
        }


def test_a_change_writes_what_it_touches(tmp_path: Path) -> None:
    root, out = copied("demo", tmp_path / "repo"), tmp_path / "site"
    build(root, out)
    assert build(root, out).written == 0
    before = digest(out)
    file = root / ".orbit/adrs/ADR-0003/adr.yaml"
    file.write_text(file.read_text("utf-8").replace("Nothing talks", "Nobody talks"), "utf-8")
    build(root, out)
    after = digest(out)
    changed = {
        path
        for path in after
        if before.get(path) != after[path] and path.startswith(("adrs/", "learnings/"))
    }
    lists = {"adrs/index.html", "adrs/timeline/index.html", "adrs/feature/core/index.html"}
    texts = {
        f"adrs/{page}/index.md" for page in ("ADR-0002", "ADR-0003", "feature/core", "timeline")
    }  # others only preview it
    pages = {f"adrs/ADR-000{number}/index.html" for number in range(1, 6)}  # all cite it
    assert changed == pages | lists | texts | {"adrs/index.md"}


ENTRY_EDITS: tuple[tuple[Edit, set[str]], ...] = (
    (put(r"(?s)(## ADR-0002.*?Good\.)", r"\1\n- New."), {"ADR-0002"}),
    (put(r"(?s)(## ADR-0003.*?)\[dead\]\(gone.md\)", r"\1[dead][it]"), {"ADR-0003"}),
    (more("\n[it]: 1_overview.md\n"), {"ADR-0003"}),
    (put(r"(?s)(## ADR-0004.*?)work\.", r"\1work.[^1]"), {"ADR-0004"}),
    (more("\n[^1]: By hand.\n"), {"ADR-0004"}),
)
"""Edits of a log, and whose pages say something else after each."""


def test_an_edit_in_a_log_makes_the_pages_anew_that_say_something_else(tmp_path: Path) -> None:
    root, out = copied("demo", tmp_path / "repo"), tmp_path / "site"
    build(root, out)
    for number, (edit, names) in enumerate(ENTRY_EDITS):
        before = digest(out)
        log = root / LOG
        log.write_text(edit(log.read_text("utf-8")), "utf-8")
        result, fresh = build(root, out), build(root, tmp_path / f"fresh-{number}")

        after = digest(out)
        texts = {path for path in after if path.startswith("adrs/ADR-") and path.endswith(".md")}
        changed = {path for path in texts if before.get(path) != after[path]}
        assert changed == {f"adrs/{name}/index.md" for name in names}
        assert after == digest(fresh.out)
        # Lines of findings below the edit are others, though their pages are not.
        assert result.diagnostics == fresh.diagnostics
