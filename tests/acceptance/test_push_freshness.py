"""What the push index says of records that may be out of date, with real git:
what `orbit stale` says, and in time.
"""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.files import make_workspace, write, write_record

from orbit_registry.hook.context import Context
from orbit_registry.hook.index import Index, open_index
from orbit_registry.hook.select import select
from orbit_registry.matching.match import current_index
from orbit_registry.model.fields import ID
from orbit_registry.model.reach import BRIEF
from orbit_registry.operations.freshness.evaluate import evaluate_freshness
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.workspace import open_workspace

NOW = 1_800_000_000.0
LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture
def root(git_repo: Path) -> Path:
    make_workspace(git_repo)
    write(git_repo, ".gitignore", ".orbit/state/\n*.log\n")
    for name in ("src/a.py", "src/b.py", "lib/c.py"):
        put(git_repo, name, "one\n")
    return git_repo


def put(root: Path, name: str, text: str) -> None:
    """Write a file, with a time that is not the one of its last writing."""
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.stat().st_mtime_ns if file.exists() else 0
    file.write_text(text, "utf-8")
    os.utime(file, ns=(before + 1_000_000_007, before + 1_000_000_007))


def learn(root: Path, code: str, **fields: object) -> None:
    """Write a learning as an editor would: JSON is YAML."""
    data = {
        "schema_version": 1,
        "id": f"L-{code}",
        "uid": f"{int.from_bytes(code.encode(), 'big'):032x}",
        "status": "active",
        "summary": f"Learning {code}",
        "scope": {"paths": ["src/**"]},
        "created_at": LONG_AGO,
        "updated_at": LONG_AGO,
        **fields,
    }
    put(
        root,
        f".orbit/learnings/L-{code}/learning.yaml",
        "".join(f"{k}: {json.dumps(v)}\n" for k, v in data.items()),
    )


def resting(*names: str, text: str = "one\n") -> dict[str, dict[str, object]]:
    fields = hashlib.sha256(text.rstrip("\n").encode()).hexdigest()
    return {
        "freshness": {
            "fingerprint": [{"input": name, "hash": f"sha256:{fields}"} for name in names]
        }
    }


def doubts(root: Path) -> dict[str, str]:
    """Return why each pushed record may be out of date, by id, after a sync."""
    index = current_index(open_workspace(root))
    rows = map(index.row, range(index.pushed))
    return {row.values[ID]: row.doubt(NOW) for row in rows}


def derived(root: Path) -> dict[str, str]:
    workspace = open_workspace(root)
    records = [row for row in read_collection(workspace).records if row.phase == "live"]
    causes = evaluate_freshness(workspace, records).freshness
    return {row.id: str(causes[row.path].cause) if row.path in causes else "" for row in records}


def test_the_index_says_what_freshness_says(root: Path, git: Callable[..., str]) -> None:
    put(root, "gone/old.py", "one\n")
    put(root, "new/old.py", "two\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Start")
    git(root, "rm", "-rq", "gone", "new")
    git(root, "commit", "-q", "-m", "Remove two folders")
    commit = git(root, "rev-parse", "HEAD").strip()
    evidence = [{"kind": "file", "reference": "lib/c.py:7"}, {"kind": "task", "reference": "T-1"}]
    learn(root, "fresh")
    learn(root, "after", **resting("src/a.py"))
    learn(root, "wnder", **{**resting("src/"), "evidence": evidence})
    learn(
        root,
        "named",
        freshness={
            "fingerprint": [
                {"input": "package.json#a.b", "hash": f"sha256:{hashlib.sha256(b'1').hexdigest()}"}
            ]
        },
    )
    learn(root, "dead1", scope={"paths": ["gone/**", "!gone/x"]})
    learn(root, "stray", scope={"paths": ["new/**"]})
    learn(root, "prfxx", evidence=[{"kind": "file", "reference": "lib/c.py#L3"}])
    learn(root, "cmmtd", evidence=[{"kind": "commit", "reference": commit}])
    learn(root, "never", evidence=[{"kind": "commit", "reference": "0123456789"}])
    learn(root, "aged1", freshness={"volatility": "volatile"})
    learn(root, "bathh", freshness={**resting("src/none.py")["freshness"], "volatility": "stable"})
    visited = [doubts(root)]
    assert visited[0] == derived(root)
    assert len(visited[0]) == 11
    steps: list[Callable[[], object]] = [
        lambda: put(root, "src/a.py", "two\n"),
        lambda: put(root, "src/a.py", "one\n"),
        lambda: put(root, "package.json", '{"a": {"b": 1}}'),
        lambda: put(root, "new/x.py", "x"),
        lambda: (root / "lib/c.py").unlink(),
        lambda: put(root, "lib/c.py", "x"),
        lambda: git(root, "rm", "-q", "--cached", "lib/c.py"),
        lambda: put(root, "gone/y.log", "ignored"),
        lambda: put(root, "gone/y.py", "there"),
        lambda: git(root, "add", "."),
        lambda: git(root, "rm", "-rfq", "src"),
    ]
    for step in steps:
        step()
        visited.append(doubts(root))
        assert visited[-1] == derived(root)
    assert {cause for row in visited for cause in row.values()} == {
        "",
        "fingerprint",
        "anchor",
        "age",
    }
    changed = {name for name in visited[0] if len({row[name] for row in visited}) > 1}
    assert changed >= {"L-after", "L-dead1", "L-fresh", "L-named", "L-prfxx", "L-stray"}


def test_a_document_that_is_gone_makes_its_decision_stale(root: Path) -> None:
    put(root, "docs/adr/1.md", "# ADR-0001\n")
    write_record(
        root,
        ".orbit/adrs/ADR-0001/adr.yaml",
        status="accepted",
        title="One",
        source={"path": "docs/adr/1.md"},
        scope={"paths": ["src/**"]},
    )
    assert doubts(root) == {"ADR-0001": ""}
    (root / "docs/adr/1.md").unlink()
    index = current_index(open_workspace(root))
    (row,) = select(index, Context(BRIEF, NOW, paths=["src/a.py"])).matches
    assert row.text == "- [ADR-0001] may be out of date (source): .orbit/adrs/ADR-0001/adr.yaml"


def test_a_write_that_leaves_the_stamp_is_seen(root: Path) -> None:
    learn(root, "after", **resting("src/a.py"))
    (root / "src/a.py").write_text("two\n", "utf-8")
    assert doubts(root) == {"L-after": "fingerprint"}
    stamp = (root / "src/a.py").stat()
    (root / "src/a.py").write_text("one\n", "utf-8")
    os.utime(root / "src/a.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert doubts(root) == {"L-after": ""}


def test_time_alone_makes_a_record_stale_without_a_sync(root: Path) -> None:
    learn(
        root, "aged1", freshness={"volatility": "volatile", "verified_at": "2026-01-01T00:00:00Z"}
    )
    current_index(open_workspace(root))
    index = open_index(str(root))
    assert isinstance(index, Index)
    row = index.row(0)
    day = 86_400
    at = 1_767_225_600 + 30 * day
    assert (row.doubt(at - 1), row.doubt(at)) == ("", "age")


def test_no_secret_in_an_input_reaches_a_cache(root: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    learn(root, "weak1", **resting(f"src/{secret}.py"))
    doubts(root)
    for file in (root / ".git/orbit").iterdir():
        assert secret.encode() not in file.read_bytes(), file.name
