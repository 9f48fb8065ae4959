"""Cached findings of the gate: after every edit the answer is that of a first run."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orbit_registry.checks.context import collect_inputs
from orbit_registry.checks.engine import run_uncached
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.registry import Registry
from orbit_registry.workspace.workspace import open_workspace

Edit = Callable[[Path, random.Random], None]

SUMMARIES = (
    "Parse dates strictly",
    "parse dates, strictly!",
    "Close what you open",
    "Parse all dates strictly",
    "TODO",
)
MORE = (
    "",
    "links:\n  - rel: extends\n    to: L-aaaa1\n",
    "superseded_by: [L-aaaa2]\n",
    "supersedes: [L-aaaa1]\n",
    "distinct_from: [L-aaaa1]\n",
    "body: |-\n  See ADR-0001 and ADR-0042.\n",
    "body: |-\n  TODO\n",
    "legacy_ids: [core/ADR-001]\n",
    'freshness:\n  fingerprint:\n    - {input: README.md, hash: "sha256:' + "0" * 64 + '"}\n    - input: src\n',
    "evidence:\n  - kind: file\n    reference: src/app.py\n",
    "evidence:\n  - kind: record\n    reference: ADR-001\n",
    "links:\n  - rel: related_to\n    to: L-aaaa3\n  - rel: derived_from\n    to: core/ADR-001\n",
    "legacy_ids: [web/ADR-001, old-name]\n",
    "superseded_by: [L-aaaa3]\nsupersedes: [old-name]\n",
    "body: |-\n  As L-aaaa3 and core/ADR-001 say.\n",
    "category: naming\n",
)
GLOBS = ("src/**", "lib/**", "src/app.py", "**/*.md", "[a-", "{src,lib}/deep/*.py", "wed/*.py")
DECISION = (
    "## ADR-000{n} — {title}\n\nStatus: {status} · 2026-05-01\n\n"
    "### Context\n\n{text}\n\n### Decision\n\n{text}\n\n{end}\n"
)
ENDS = ("### Consequences\n\n- Cost: time.\n", "### Consequences\n\n- None.\n", "")


def write_learning(root: Path, chance: random.Random) -> None:
    """Add or change a learning."""
    record_id = f"L-aaaa{chance.randint(1, 5)}"
    file = root / ".orbit" / "learnings" / record_id / "learning.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    status = chance.choice(("active", "active", "candidate", "retired", "superseded", "wrong"))
    uid = f"{record_id.encode().hex():0<32}"
    file.write_text(
        f'schema_version: 1\nid: {record_id}\nuid: "{uid}"\nstatus: {status}\nsummary: "{chance.choice(SUMMARIES)}"\n'
        f'scope:\n  paths:\n    - "{chance.choice(GLOBS)}"\n{chance.choice(MORE)}'
        "created_at: 2026-05-01T09:00:00Z\nupdated_at: 2026-05-01T09:00:00Z\n",
        "utf-8",
    )


def remove_learning(root: Path, chance: random.Random) -> None:
    """Remove a learning, if there is one."""
    folders = sorted((root / ".orbit" / "learnings").glob("*"))
    if folders:
        shutil.rmtree(chance.choice(folders))


def write_log(root: Path, chance: random.Random) -> None:
    """Write the log of decisions anew; its records stay as they are."""
    log = root / "docs" / "design" / "core" / "4_decisions.md"
    log.parent.mkdir(parents=True, exist_ok=True)
    entries = [
        DECISION.format(
            n=number,
            title=chance.choice(("Keep one log", "Log in UTC", "Use \u202e tabs")),
            status=chance.choice(("Accepted", "Proposed", "Superseded by ADR-0002", "Simmering")),
            text=chance.choice(("Two logs drift.", "TBD", "See L-aaaa1.", "")),
            end=chance.choice(ENDS),
        )
        for number in chance.sample(range(1, 4), chance.randint(1, 3))
    ]
    log.write_text("# Core\n\n" + "\n".join(entries), "utf-8")


def backfill(root: Path, chance: random.Random) -> None:
    """Make records for what has none."""
    Registry.open(root).backfill()


def write_text(root: Path, chance: random.Random) -> None:
    """Change a file in which ids are looked up."""
    words = chance.choice(("See ADR-0001.", "See ADR-0042.", "```\nADR-0042\n```", "See L-aaaa1 and `L-aaaa2`."))
    (root / "README.md").write_text(f"# A project\n\n{words}\n", "utf-8")


def move_source(root: Path, chance: random.Random) -> None:
    """Move the code that scopes name, and back."""
    here, there = ("src", "lib") if (root / "src").is_dir() else ("lib", "src")
    if (root / here).is_dir() and not (root / there).exists():
        (root / here).rename(root / there)


def add_source(root: Path, chance: random.Random) -> None:
    """Add a file of code, in a new folder or beside others, or take one away."""
    file = root / chance.choice(("src", "lib", "src/deep", "web")) / f"{chance.choice('abc')}.py"
    if file.exists():
        file.unlink()
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("", "utf-8")


def vote(root: Path, chance: random.Random) -> None:
    """Add a line to the votes of a learning, which may be no vote."""
    for folder in sorted((root / ".orbit" / "learnings").glob("*"))[:1]:
        row = {"learning_id": folder.name, "voter_model": "m", "voted_at": "2026-05-02T09:00:00Z", "task_id": "T-1"}
        with (folder / "votes.jsonl").open("a", encoding="utf-8") as file:
            file.write(chance.choice((json.dumps(row), "{}")) + "\n")


def rename_learning(root: Path, chance: random.Random) -> None:
    """Give a learning's folder another name, so that it holds no record."""
    folders = sorted((root / ".orbit" / "learnings").glob("*"))
    if folders:
        chosen = chance.choice(folders)
        other = chosen.with_name("L-bbbb1" if chosen.name != "L-bbbb1" else "L-aaaa1")
        if not other.exists():
            chosen.rename(other)


def commit(root: Path, chance: random.Random) -> None:
    """Commit everything, so that nothing counts as changed."""
    git = Registry.open(root).workspace.git
    git.run("add", "--all")
    git.run("commit", "-q", "--allow-empty", "-m", "Change")


def configure(root: Path, chance: random.Random) -> None:
    """Change the configuration."""
    more = chance.choice(
        (
            "",
            "checks:\n  ignore: [ORB401]\n",
            "duplicates: {warning: 0.3}\n",
            'citations: ["*.txt"]\n',
            "learnings_config:\n  agent_category_mapping: {writer: [naming, namimg]}\n",
        )
    )
    (root / ".orbit" / "config.yaml").write_text(f"format: orbit-registry\nschema_version: 1\n{more}", "utf-8")


EDITS: tuple[Edit, ...] = (
    write_learning, write_learning, write_learning, remove_learning, write_log, write_log, backfill, write_text,
    move_source, commit, configure, vote, rename_learning, add_source, add_source,
)  # fmt: skip


def found(root: Path) -> tuple[Diagnostic, ...]:
    """Return what a new process finds."""
    return Registry.open(root).check(everything=True).diagnostics


def found_anew(root: Path, folder: Path) -> tuple[Diagnostic, ...]:
    """Return the findings of a copy without a cache."""
    fresh = folder / "fresh"
    shutil.copytree(root, fresh, symlinks=True, ignore=shutil.ignore_patterns("cache"))
    diagnostics = found(fresh)
    shutil.rmtree(fresh)
    return diagnostics


@pytest.mark.parametrize("seed", range(3))
def test_the_cache_changes_no_answer(workspace: Path, tmp_path: Path, seed: int) -> None:
    """After each of a row of random edits the gate says what it says to someone who never ran it before."""
    chance = random.Random(seed)
    codes: set[str] = set()
    for edit in (write_log, backfill, write_text, *[write_learning] * 8, commit):
        edit(workspace, chance)
    for _ in range(20):
        chance.choice(EDITS)(workspace, chance)
        cached = found(workspace)
        assert cached == found_anew(workspace, tmp_path)
        codes |= {diagnostic.code for diagnostic in cached}
    assert len(codes) > 1


def test_a_run_with_a_changing_file_is_not_cached(workspace: Path) -> None:
    """A document whose citations lead nowhere is not cached as one without any."""
    file = workspace / "docs" / "plan.md"
    file.parent.mkdir()
    file.write_text("See ADR-0099.\n", "utf-8")
    before = Registry.open(workspace).check(everything=True).diagnostics
    assert [diagnostic.code for diagnostic in before] == ["ORB305"]
    inputs = collect_inputs(open_workspace(workspace), None, datetime.now(UTC))
    file.rename(file.with_suffix(".away"))
    assert not run_uncached(inputs)[1]

    file.with_suffix(".away").rename(file)
    assert Registry.open(workspace).check(everything=True).diagnostics == before
