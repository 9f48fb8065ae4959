"""However the files came to be what they are, an incremental sync holds what a first one does."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.files import write, write_record

from orbit_registry.hook.index import Index, open_index
from orbit_registry.registry import Registry
from orbit_registry.search.query import Query
from orbit_registry.snapshot.sync import Snapshot, SyncResult, sync
from orbit_registry.workspace.workspace import open_workspace

CODES = ("aaaaa", "bbbbb", "ccccc")
NUMBERS = (1, 2)
KNOWN = hashlib.sha256(json.dumps({"a": "wa"}).encode()).hexdigest()
LOG = "docs/design/f/4_decisions.md"

code = st.sampled_from(CODES)
number = st.sampled_from(NUMBERS)
word = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")),
    min_size=1,
    max_size=12,
).map(lambda text: f"w{text}")
glob = st.sampled_from(
    ("src/**", "!src/gen/**", "**/*.py", "docs/{a,b}.md", "src/[", "lib/*_test.py")
)
target = st.sampled_from(("L-aaaaa", "ADR-0001", "old/ADR-001", "nowhere"))

learning = st.tuples(
    st.just("learning"),
    code,
    st.booleans(),
    word,
    st.lists(glob, max_size=3, unique=True),
    st.lists(target, max_size=2),
    st.sampled_from(("", "old", "missing", "field")),
)
decision = st.tuples(
    st.just("decision"), number, st.sampled_from(("accepted", "proposed", "superseded")), word
)
document = st.tuples(st.just("document"), st.lists(st.tuples(number, word), max_size=3))
vote = st.tuples(st.just("vote"), code, st.sampled_from(("m1", "m2")), st.integers(1, 28))
removal = st.tuples(
    st.just("remove"),
    st.sampled_from([f"learnings/L-{code}" for code in CODES] + ["adrs/ADR-0001"]),
)
harm = st.tuples(
    st.just("harm"), code, st.sampled_from(("id: [", "", "\x00", "- 1\n", "a: &a [*a]\n"))
)
body = st.tuples(st.just("body"), number, word)
touch = st.tuples(st.just("touch"), code)
ground = st.tuples(
    st.just("ground"), st.sampled_from(("src/in.py", "src/in.json", "src/seen.py")), word
)
change = st.one_of(learning, decision, document, vote, removal, harm, body, touch, ground)
steps = st.lists(st.lists(change, min_size=1, max_size=3), min_size=1, max_size=5)


def take(root: Path, step: Sequence[object]) -> None:
    match step:
        case ("learning", str(name), bool(inbox), summary, globs, targets, rests):
            fields = {
                "status": "candidate" if inbox else "active",
                "summary": summary,
                "scope": {"paths": globs},
            }
            if rests:
                input_of = {"old": "src/in.py", "missing": "src/none.py", "field": "src/in.json#a"}[
                    str(rests)
                ]
                fields["freshness"] = {
                    "fingerprint": [{"input": input_of, "hash": f"sha256:{KNOWN}"}]
                }
                fields["evidence"] = [{"kind": "file", "reference": "src/seen.py:3"}]
            fields["links"] = [{"rel": "related_to", "to": target} for target in targets]
            folder = ".orbit/state/inbox/learnings" if inbox else ".orbit/learnings"
            write_record(root, f"{folder}/L-{name}/learning.yaml", **fields)
        case ("decision", int(which), status, title):
            name = f"ADR-000{which}"
            source = {"path": LOG, "heading": name, "format": "log"}
            fields = {
                "status": status,
                "title": title,
                "source": source,
                "legacy_ids": [f"old/ADR-00{which}"],
            }
            write_record(root, f".orbit/adrs/{name}/adr.yaml", **fields)
        case ("document", entries):
            parts = [
                f"## ADR-000{which} — T\n\nStatus: Accepted\n\n{text}\n" for which, text in entries
            ]
            write(root, LOG, "# Log\n\n" + "\n".join(parts))
        case ("vote", str(name), model, day):
            file = root / f".orbit/learnings/L-{name}/votes.jsonl"
            at = f"2026-01-{day:02d}T00:00:00Z"
            row = {
                "learning_id": f"L-{name}",
                "voter_model": model,
                "voted_at": at,
                "task_id": f"T-{day % 3}",
            }
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row) + "\n")
        case ("remove", str(folder)):
            shutil.rmtree(root / ".orbit" / folder, ignore_errors=True)
        case ("harm", str(name), str(text)):
            write(root, f".orbit/learnings/L-{name}/learning.yaml", text)
        case ("body", int(which), text):
            write(root, f".orbit/adrs/ADR-000{which}/body.md", str(text))
        case ("ground", str(path), text):
            write(root, path, json.dumps({"a": text}))
        case ("touch", str(name)):
            if (file := root / f".orbit/learnings/L-{name}/learning.yaml").exists():
                file.touch()


def built(root: Path) -> tuple[SyncResult, Snapshot]:
    """Return what a sync did that asked for the snapshot."""
    result = sync(open_workspace(root), snapshot=True)
    assert result.snapshot is not None
    return result, result.snapshot


def rows(result: Snapshot) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of a snapshot but what speaks of when and where it was made.

    `citations` is of the build: files that cite are no input of a sync, so that an edit of code
    rebuilds nothing.
    """
    with duckdb.connect(str(result.path), read_only=True) as connection:
        names = [
            name
            for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        ]
        tables = {
            name: connection.execute(f"FROM {name} ORDER BY ALL").fetchall()
            for name in names
            if name not in ("sources", "citations")
        }
        tables["sources"] = connection.execute(
            "SELECT * EXCLUDE (mtime) FROM sources ORDER BY ALL"
        ).fetchall()
        tables["meta"] = [row for row in tables["meta"] if row[0] != "built_at"]
    return tables


def index(root: Path) -> bytes:
    """Return the bytes of the push index, without the stamps behind it."""
    content = open_index(str(root))
    assert isinstance(content, Index)
    return content.read(0, content.length)


def hits(root: Path) -> list[tuple[str, float, str]]:
    """Return what a search finds, which counts again only what changed."""
    result = Registry.open(root).search(Query("wa w0 summary T", limit=20, everything=True))
    return [(hit.name, hit.score, hit.snippet) for hit in result.hits]


@settings(max_examples=settings().max_examples // 3)
@given(steps=steps)
@example([[("learning", "aaaaa", waits, "w0", [], [], "")] for waits in (False, True)])
def test_an_incremental_sync_equals_a_rebuild(steps: list[list[Sequence[object]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "kept"
        write(
            root, ".orbit/config.yaml", "format: orbit-registry\nschema_version: 1\nproject: demo\n"
        )
        for changes in steps:
            for change in changes:
                take(root, change)
            incremental, snapshot = built(root)
        assert not built(root)[0].built
        fresh = Path(folder) / "fresh"
        shutil.copytree(root, fresh, ignore=shutil.ignore_patterns("cache"))
        first, first_snapshot = built(fresh)
        current, rebuilt = rows(snapshot), rows(first_snapshot)
        if not snapshot.built:  # the table says what was so when the snapshot was built
            for table in ("freshness_states", "built_states"):
                del current[table], rebuilt[table]
        assert current == rebuilt
        assert incremental.digest == first.digest
        assert index(root) == index(fresh)
        assert hits(root) == hits(fresh)
