"""The gate as a whole: what it remembers, selects, mends and leaves to the baseline."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from orbit_registry.checks import engine
from orbit_registry.checks.engine import CheckOutcome, run_uncached
from orbit_registry.checks.inputs import collect_inputs
from orbit_registry.model.diagnostic import Diagnostic
from orbit_registry.registry import Registry
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import open_workspace

Learning = Callable[..., Path]


def check(root: Path, *, fix: bool = False) -> CheckOutcome:
    """Run the gate as a new process would."""
    return Registry.open(root).check(fix=fix)


def codes(outcome: CheckOutcome) -> list[str]:
    return [diagnostic.code for diagnostic in outcome.diagnostics]


def test_a_run_with_a_changing_file_is_not_cached(workspace: Path) -> None:
    file = workspace / "plan.md"
    file.write_text("See ADR-0099.\n", "utf-8")
    inputs = collect_inputs(open_workspace(workspace), None, datetime.now(UTC))
    file.rename(file.with_suffix(".away"))
    assert not run_uncached(inputs)[1]

    file.with_suffix(".away").rename(file)
    assert codes(check(workspace)) == ["ORB305"]


def test_unchanged_documents_are_not_parsed_again_nor_their_pairs_compared(
    workspace: Path, learning: Learning
) -> None:
    def refuse(*_parameters: object) -> object:
        raise AssertionError("not stored")

    texts = {"0001-queue.md": "We use a queue.", "0002-log.md": "We keep a log."}
    for name, text in texts.items():
        file = workspace / "docs/adr" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"# {name[:4]}. {text}\n\n- Status: accepted\n\n## Decision\n\n{text}\n", "utf-8"
        )
    for record_id in ("L-7k3fq", "L-8k3fq"):
        learning(record_id, "Jobs run twice when the queue restarts")
    first = check(workspace)
    assert codes(first) == ["ORB601", "ORB702", "ORB702"]

    (workspace / "new.py").touch()
    cache = open_workspace(workspace).cache
    stored = cache.files("documents", workspace, [f"docs/adr/{name}" for name in texts], refuse)
    assert [value.value is not None for value in stored.values()] == [True, True]
    assert (
        cache.recall(
            "check", collect_inputs(open_workspace(workspace), None, datetime.now(UTC)).key
        )
        is None
    )
    assert check(workspace).diagnostics == first.diagnostics


def test_no_answer_that_the_clock_changes_is_cached(workspace: Path, learning: Learning) -> None:
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC)
    learning(
        "L-7k3fq",
        "It holds until noon",
        more=f"freshness: {{expires_at: {noon:%Y-%m-%dT%H:%M:%SZ}}}\n",
    )

    def findings(hours: int) -> list[str]:
        return codes(engine.run(open_workspace(workspace), now=noon + timedelta(hours=hours)))

    assert [findings(hours) for hours in (-2, -1, 1)] == [[], [], ["ORB803"]]


def test_fix_ends_an_unfinished_step(workspace: Path, learning: Learning) -> None:
    learning("L-7k3fq", "Parse dates strictly")
    journal = workspace / ".git" / "orbit" / "journal"
    journal.mkdir(parents=True)
    (journal / "update-0a1b2c.json").write_text('{"step": "update", "changes": []}', "utf-8")
    assert codes(check(workspace)) == ["ORB706"]
    outcome = check(workspace, fix=True)
    assert ([diagnostic.code for diagnostic in outcome.fixed], codes(outcome)) == (["ORB706"], [])
    assert list(journal.iterdir()) == []


def one_sided(learning: Learning) -> Path:
    """Write two records of which one says that the other replaced it;
    returns the file that lacks its end.
    """
    learning("L-aaaa1", "Use tabs", status="superseded", more="superseded_by: [L-aaaa2]\n")
    return learning("L-aaaa2", "Use spaces")


def test_a_fix_is_announced_before_it_is_made(workspace: Path, learning: Learning) -> None:
    file = one_sided(learning)
    announced: list[tuple[str, str, bool]] = []

    def announce(diagnostic: Diagnostic, changes: Sequence[FileChange]) -> None:
        announced.extend(
            (diagnostic.code, change.path, file.read_text("utf-8") == change.before)
            for change in changes
        )

    before = file.read_bytes()
    assert Registry.open(workspace).check(fix=True, announce=announce, dry_run=True).fixed == ()
    assert file.read_bytes() == before
    Registry.open(workspace).check(fix=True, announce=announce)
    assert file.read_bytes() != before
    assert announced == [("ORB302", ".orbit/learnings/L-aaaa2/learning.yaml", True)] * 2
