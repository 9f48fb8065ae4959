"""The gate as a whole: what it remembers, selects, mends and leaves to the baseline."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.files import write

from orbit_registry.checks import engine
from orbit_registry.checks.context import collect_inputs
from orbit_registry.checks.engine import CheckOutcome, run_uncached
from orbit_registry.model.diagnostic import Diagnostic, Severity
from orbit_registry.registry import Registry
from orbit_registry.workspace.journal import FileChange
from orbit_registry.workspace.workspace import open_workspace

Git = Callable[..., str]
Learning = Callable[..., Path]
DANGLING = "links:\n  - rel: extends\n    to: L-00000\n"


def check(root: Path, *paths: str, against: str | None = None, fix: bool = False, all_: bool = False) -> CheckOutcome:
    """Run the gate as a new process would."""
    return Registry.open(root).check(paths, against=against, fix=fix, everything=all_)


def codes(outcome: CheckOutcome) -> list[str]:
    return [diagnostic.code for diagnostic in outcome.diagnostics]


def commit(root: Path, git: Git, message: str = "Change") -> None:
    git(root, "add", "--all")
    git(root, "commit", "-q", "-m", message)


def test_every_kind_of_change_is_seen(workspace: Path, learning: Learning, git: Git) -> None:
    file = learning("L-7k3fq", "Parse dates strictly")
    clean = file.read_text("utf-8")
    assert codes(check(workspace)) == []
    file.write_text(clean + DANGLING, "utf-8")
    assert codes(check(workspace)) == ["ORB301"]
    file.write_text(clean, "utf-8")
    assert codes(check(workspace)) == []
    (workspace / "README.md").write_text("See ADR-0042.\n", "utf-8")
    assert codes(check(workspace)) == ["ORB305"]
    (workspace / "README.md").write_text("See nothing.\n", "utf-8")
    (workspace / ".orbit" / "learnings" / "note.txt").write_text("a note", "utf-8")
    assert codes(check(workspace)) == ["ORB105"]
    (workspace / ".orbit" / "learnings" / "note.txt").unlink()
    commit(workspace, git)
    assert codes(check(workspace)) == []
    git(workspace, "mv", "src", "lib")
    assert codes(check(workspace)) == ["ORB502"]
    git(workspace, "mv", "lib", "src")
    (workspace / ".orbit" / "baseline.yaml").write_text("findings: 3\n", "utf-8")
    assert codes(check(workspace)) == ["ORB109"]
    (workspace / ".orbit" / "baseline.yaml").unlink()
    assert codes(check(workspace)) == []
    file.with_name("votes.jsonl").write_text("{}\n", "utf-8")
    assert codes(check(workspace)) == ["ORB107"]
    file.with_name("votes.jsonl").unlink()
    log = write(
        workspace,
        "docs/design/core/4_decisions.md",
        "# Core\n\n## ADR-0001 — Keep one log\n\nStatus: Accepted\n\n### Decision\n\nOne.\n",
    )
    assert codes(check(workspace)) == ["ORB702"]
    Registry.open(workspace).backfill()
    log.write_text(log.read_text("utf-8").replace("Keep one", "Keep no"), "utf-8")
    assert "ORB701" in codes(check(workspace))
    config = workspace / ".orbit/config.yaml"
    config.write_text(f"{config.read_text('utf-8')}checks: {{ignore: [ORB701]}}\n", "utf-8")
    assert "ORB701" not in codes(check(workspace))


def test_a_run_with_a_changing_file_is_not_cached(workspace: Path) -> None:
    file = workspace / "plan.md"
    file.write_text("See ADR-0099.\n", "utf-8")
    inputs = collect_inputs(open_workspace(workspace), None, datetime.now(UTC))
    file.rename(file.with_suffix(".away"))
    assert not run_uncached(inputs)[1]

    file.with_suffix(".away").rename(file)
    assert codes(check(workspace)) == ["ORB305"]


def test_no_answer_that_the_clock_changes_is_cached(workspace: Path, learning: Learning) -> None:
    noon = datetime(2026, 11, 22, 12, tzinfo=UTC)
    learning("L-7k3fq", "It holds until noon", more=f"freshness: {{expires_at: {noon:%Y-%m-%dT%H:%M:%SZ}}}\n")

    def findings(hours: int) -> list[str]:
        return codes(engine.run(open_workspace(workspace), now=noon + timedelta(hours=hours)))

    assert [findings(hours) for hours in (-2, -1, 1)] == [[], [], ["ORB803"]]


def test_paths_narrow_the_findings(workspace: Path, learning: Learning) -> None:
    learning("L-7k3fq", "Parse dates strictly", more=DANGLING)
    learning("L-9m2ab", "Close what you open", more=DANGLING.replace("L-00000", "L-11111"))
    assert len(codes(check(workspace))) == 2
    (diagnostic,) = check(workspace, ".orbit/learnings/L-9m2ab").diagnostics
    assert diagnostic.record == "L-9m2ab"
    assert len(codes(check(workspace, ".orbit"))) == 2
    assert codes(check(workspace, "src")) == []


def test_an_unreadable_record_is_never_ignored(workspace: Path, learning: Learning) -> None:
    """Every answer leaves the file out and refers to the gate, so that no ignored code hides it."""
    learning("L-9m2ab", "Close: what [you open")
    config = workspace / ".orbit" / "config.yaml"
    config.write_text(config.read_text("utf-8") + "checks:\n  ignore: [ORB102]\n", "utf-8")
    assert codes(check(workspace)) == ["ORB102"]


def test_the_baseline_hides_older_findings(workspace: Path, learning: Learning) -> None:
    file = learning("L-7k3fq", "Parse dates strictly", more=DANGLING)
    assert Registry.open(workspace).update_baseline() == (1, True)
    assert Registry.open(workspace).update_baseline() == (1, False)
    outcome = check(workspace)
    assert (codes(outcome), len(outcome.baselined), outcome.ok) == ([], 1, True)
    learning("L-9m2ab", "Close what you open", more=DANGLING)
    assert [diagnostic.record for diagnostic in check(workspace).diagnostics] == ["L-9m2ab"]
    assert len(codes(check(workspace, all_=True))) == 2
    file.write_text(file.read_text("utf-8").replace(DANGLING, ""), "utf-8")
    assert len(check(workspace).resolved) == 1


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
    """Write two records of which one says that the other replaced it; returns the file that lacks its end."""
    learning("L-aaaa1", "Use tabs", status="superseded", more="superseded_by: [L-aaaa2]\n")
    return learning("L-aaaa2", "Use spaces")


def test_fix_leaves_baselined_findings(workspace: Path, learning: Learning) -> None:
    file = one_sided(learning)
    Registry.open(workspace).update_baseline()
    before = file.read_bytes()
    assert check(workspace, fix=True).fixed == ()
    assert file.read_bytes() == before
    for paths, everything in (((".orbit/learnings/L-aaaa1",), False), ((), True)):
        fixed = check(workspace, *paths, fix=True, all_=everything).fixed
        assert [diagnostic.code for diagnostic in fixed] == ["ORB302"]
        assert check(workspace, *paths, fix=True, all_=everything).fixed == ()
        file.write_bytes(before)


def test_fix_adopts_no_baselined_entry(workspace: Path) -> None:
    document = workspace / "docs" / "adr" / "0001-use-utc.md"
    document.parent.mkdir(parents=True)
    document.write_text("# 1. Use UTC\n\nStatus: Accepted\n\n## Decision\n\nUse UTC.\n", "utf-8")
    Registry.open(workspace).update_baseline()
    assert check(workspace, fix=True).fixed == ()
    assert not (workspace / ".orbit" / "adrs").exists()


def test_a_fix_is_announced_before_it_is_made(workspace: Path, learning: Learning) -> None:
    file = one_sided(learning)
    announced: list[tuple[str, str, bool]] = []

    def announce(diagnostic: Diagnostic, changes: Sequence[FileChange]) -> None:
        announced.extend((diagnostic.code, change.path, file.read_text("utf-8") == change.before) for change in changes)

    before = file.read_bytes()
    assert Registry.open(workspace).check(fix=True, announce=announce, dry_run=True).fixed == ()
    assert file.read_bytes() == before
    Registry.open(workspace).check(fix=True, announce=announce)
    assert file.read_bytes() != before
    assert announced == [("ORB302", ".orbit/learnings/L-aaaa2/learning.yaml", True)] * 2


AGENT = "created_by:\n  name: bot\n  role: agent\n"


def test_many_new_records_without_review_share_a_note(workspace: Path, learning: Learning, git: Git) -> None:
    commit(workspace, git)
    words = ("dates", "zones", "names", "paths", "sizes", "links", "tokens", "colours", "queues", "locks", "caches")
    for number, word in enumerate(words):
        learning(f"L-aaa{number:02d}", f"Parse {word} strictly", more=AGENT)
    notes = [diagnostic for diagnostic in check(workspace).diagnostics if diagnostic.code == "ORB410"]
    assert [diagnostic.message for diagnostic in notes] == [
        "11 records that agents made are live without review: L-aaa00, L-aaa01, L-aaa02 and 8 more"
    ]
    assert codes(check(workspace, all_=True)).count("ORB410") == 11


def test_an_unrelated_merge_turns_nothing_red(workspace: Path, learning: Learning, git: Git) -> None:
    learning("L-7k3fq", "Parse dates strictly")
    commit(workspace, git)
    git(workspace, "checkout", "-q", "-b", "work")
    learning("L-9m2ab", "parse dates: strictly".replace(":", ","))
    commit(workspace, git)
    assert [diagnostic.severity for diagnostic in check(workspace).diagnostics] == [Severity.ERROR]
    git(workspace, "checkout", "-q", "main")
    git(workspace, "merge", "-q", "--ff-only", "work")
    git(workspace, "checkout", "-q", "-b", "other")
    (workspace / "src" / "new.py").write_text("", "utf-8")
    commit(workspace, git)
    assert [diagnostic.severity for diagnostic in check(workspace).diagnostics] == [Severity.WARNING]


def test_a_new_log_entry_changes_no_other(workspace: Path, git: Git) -> None:
    log = workspace / "docs" / "design" / "core" / "4_decisions.md"
    log.parent.mkdir(parents=True)
    entry = "## ADR-000{n} — {title}\n\nStatus: Accepted · 2026-05-01\n\n{body}\n\n"
    body = "### Context\n\nA.\n\n### Decision\n\nB.\n\n### Consequences\n\n- Cost: C.\n"
    log.write_text("# Core\n\n" + "".join(entry.format(n=n, title="Keep one log", body=body) for n in (1, 2)), "utf-8")
    Registry.open(workspace).backfill()
    commit(workspace, git)
    log.write_text(log.read_text("utf-8") + entry.format(n=3, title="Another", body="### Context\n\nNew.\n"), "utf-8")
    duplicates = [diagnostic for diagnostic in check(workspace).diagnostics if diagnostic.code == "ORB601"]
    assert [diagnostic.severity for diagnostic in duplicates] == [Severity.WARNING]


def test_against_hides_findings_of_the_base(workspace: Path, learning: Learning, git: Git) -> None:
    learning("L-7k3fq", "Parse dates strictly", more=DANGLING)
    (workspace / "README.md").write_text("See ADR-0042.\nSee ADR-0043.\n", "utf-8")
    commit(workspace, git)
    git(workspace, "checkout", "-q", "-b", "work")
    (workspace / "note.txt").write_text("new\n", "utf-8")
    (workspace / "README.md").write_text("See ADR-0042.\nSee ADR-0043 and ADR-0044.\n", "utf-8")
    commit(workspace, git)
    (diagnostic,) = check(workspace, against="main").diagnostics
    assert "ADR-0044" in diagnostic.message
    assert len(codes(check(workspace, against="main", all_=True))) == 4
    Registry.open(workspace).update_baseline()
    (workspace / "README.md").write_text("See ADR-0042.\nSee ADR-0042.\nSee ADR-0043 and ADR-0044.\n", "utf-8")
    assert codes(check(workspace, against="main")) == ["ORB305"]


def test_a_change_elsewhere_can_break_a_record(workspace: Path, learning: Learning, git: Git) -> None:
    learning("L-7k3fq", "Parse dates strictly")
    commit(workspace, git)
    git(workspace, "checkout", "-q", "-b", "work")
    git(workspace, "mv", "src", "lib")
    commit(workspace, git)
    assert codes(check(workspace, against="main")) == ["ORB502"]
