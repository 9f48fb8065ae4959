"""Renames: the gate finds the records that they cut off, and `--fix` moves what records name."""

import shutil
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.files import commit, make_workspace, write, write_learning, write_record

from orbit_registry.checks.engine import CheckOutcome
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.operations.freshness import renames
from orbit_registry.operations.freshness.evaluate import FreshnessReport, evaluate_freshness
from orbit_registry.operations.glob_counts import count_matches
from orbit_registry.registry import Registry

Git = Callable[..., str]
CASES = yaml.safe_load((Path(__file__).parents[2] / "cases/renames.yaml").read_text("utf-8"))


@pytest.fixture
def root(git_repo: Path) -> Path:
    return make_workspace(git_repo)


def put(root: Path, *files: str) -> None:
    """Write files with texts of their own, so that git takes none for another one."""
    for file in files:
        write(root, file, "".join(f"{file} has the line {line}\n" for line in range(9)))


def take(root: Path, step: str) -> None:
    """Do what somebody does: `mv`, `cp` and `rm` with git, or a commit."""
    verb, *names = step.split()
    if verb == "commit":
        commit(root)
    elif verb == "cp":
        (root / names[1]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / names[0], root / names[1])
    else:
        if verb == "mv":
            (root / names[1]).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", verb, *names], cwd=root, check=True, capture_output=True)


def dead(outcome: CheckOutcome) -> list[Diagnostic]:
    return [row for row in outcome.diagnostics if row.code == "ORB502"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_name_is_followed(root: Path, git: Git, case: dict[str, Any]) -> None:
    put(root, "README", *case["files"])
    axis = "paths" if "paths" in case else "symbols"
    write_learning(root, "7k3fq", scope={axis: case[axis], "tags": ["shop"]})
    commit(root)

    for step in case.get("base", ()):
        take(root, step)
    git(root, "checkout", "-q", "-b", "topic")
    for step in case["steps"]:
        take(root, step)

    found = dead(Registry.open(root).check(against="main"))
    assert {row.severity.value for row in found} == {case["level"]} - {"none"}
    assert case.get("hint", "") in "".join(row.hint or "" for row in found)

    Registry.open(root).check(fix=True)
    assert list(getattr(Registry.open(root).get("L-7k3fq").scope, axis)) == case["becomes"]


def test_the_files_are_gone_through_once_for_all_records(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, "README", "shop/cart.py")
    for number in range(4):
        paths = [f"shop/gone{number}.py", f"!shop/away{number}.py", "!shop/cart.py"]
        write_learning(root, f"7k3f{number}", scope={"paths": paths})
    commit(root)

    passes: list[Collection[str]] = []

    def counting(texts: Collection[str], files: Sequence[str]) -> Mapping[str, int]:
        passes.append(texts)
        return count_matches(texts, files)

    monkeypatch.setattr(renames, "count_matches", counting)
    registry = Registry.open(root)
    lost = renames.dangling_names(registry.collection.records, evaluated(registry))

    assert [name for _, name in lost[3].names] == ["shop/gone3.py", "!shop/away3.py"]
    assert len(lost) == 4
    assert len(passes) == 2


def evaluated(registry: Registry) -> FreshnessReport:
    return evaluate_freshness(registry.workspace, [*registry.collection.records])


def write_decision(root: Path, number: int, **fields: object) -> Path:
    name = f"ADR-{number:04d}"
    text = (
        f"# {number}. Decision {number}\n\n- Status: accepted\n\n## Decision\n\nSee shop/orders.\n"
    )
    document = write(root, f"docs/adr/{number:04d}-decision.md", text)
    write_record(
        root,
        f".orbit/adrs/{name}/adr.yaml",
        status="accepted",
        title=f"Decision {number}",
        source={"path": document.relative_to(root).as_posix(), "authority": "record"},
        **fields,
    )
    return document


def test_one_fix_follows_one_rename_for_fifty_decisions(root: Path, git: Git) -> None:
    put(root, "shop/orders/a.py", "shop/orders/b.py")
    scope = {"paths": ["shop/orders/**", "docs/**"]}
    documents = [write_decision(root, number, scope=scope) for number in range(1, 51)]
    commit(root)
    before = Registry.open(root).check(against="main")
    texts = [document.read_bytes() for document in documents]

    git(root, "checkout", "-q", "-b", "topic")
    git(root, "mv", "shop/orders", "shop/checkout")
    cut_off = Registry.open(root).check(against="main")
    assert len(dead(cut_off)) == 50
    assert not cut_off.ok

    fixed = Registry.open(root).check(against="main", fix=True)
    assert len(fixed.fixed) == 50
    noted = [row for row in fixed.diagnostics if row.code == "ORB412"]  # each scope changed
    assert len(noted) == 50
    assert [row for row in fixed.diagnostics if row not in noted] == [*before.diagnostics]
    registry = Registry.open(root)
    assert {record.scope.paths for record in registry.collection.records} == {
        ("shop/checkout/**", "docs/**")
    }
    assert [document.read_bytes() for document in documents] == texts


def test_evidence_inputs_and_checks_are_followed(root: Path, git: Git) -> None:
    put(root, "shop/orders/a.py", "shop/orders/b.py", "shop/orders/made/c.py")
    forbids = {
        "id": "no-print",
        "say": "Use the log",
        "text": {"words": ["print"], "where": "any"},
        "in": ["shop/orders/**"],
        "except": ["shop/orders/made/**"],
        "passes": ["log(1)"],
        "fails": ["print(1)"],
    }
    write_learning(
        root,
        "7k3fq",
        scope={"tags": ["shop"]},
        evidence=[{"kind": "file", "reference": "shop/orders/a.py:3"}],
        freshness={"fingerprint": [{"input": "shop/orders/b.py"}]},
        checks=[forbids],
    )
    commit(root)
    git(root, "mv", "shop/orders", "shop/checkout")

    outcome = Registry.open(root).check()
    fixable = [row.code for row in outcome.diagnostics if row.fixable]
    assert sorted(set(fixable)) == ["ORB1003", "ORB802", "ORB804"]

    Registry.open(root).check(fix=True)
    data = Registry.open(root).get("L-7k3fq").data
    assert data["evidence"] == [{"kind": "file", "reference": "shop/checkout/a.py:3"}]
    assert data["freshness"] == {"fingerprint": [{"input": "shop/checkout/b.py"}]}
    assert data["checks"] == [
        {**forbids, "in": ["shop/checkout/**"], "except": ["shop/checkout/made/**"]}
    ]


def test_a_dry_run_prints_each_move_and_writes_nothing(root: Path, git: Git) -> None:
    put(root, "shop/pay.py")
    file = write_learning(root, "7k3fq", scope={"paths": ["shop/pay.py"]})
    commit(root)
    git(root, "mv", "shop/pay.py", "till.py")
    before = file.read_bytes()
    texts: list[str | None] = []

    Registry.open(root).check(
        fix=True,
        dry_run=True,
        announce=lambda _, changes: texts.extend(change.after for change in changes),
    )
    assert len(texts) == 1
    assert "till.py" in str(texts[0])
    assert file.read_bytes() == before
