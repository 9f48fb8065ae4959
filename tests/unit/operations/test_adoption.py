"""Records for decisions in documents: which are made, what the report says,
and how they follow a new name.
"""

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from orbit_registry.checks import engine
from orbit_registry.errors import UsageError
from orbit_registry.formats.adr.model import Relation
from orbit_registry.formats.position import Position, Span
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Source
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.adoption import Order, adopt, backfill
from orbit_registry.operations.adr import NewAdr, add_adr
from orbit_registry.operations.document_moves import follow_moves
from orbit_registry.operations.import_report import (
    UNKNOWN,
    UNSTATED,
    Outcome,
    TakeoverReport,
    status_notes,
)
from orbit_registry.operations.init import setup_workspace
from orbit_registry.operations.link_targets import RecordLocation, Targets
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import decision_paths
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import Workspace, open_workspace

Write = Callable[..., str]


@pytest.fixture
def workspace(git_repo: Path) -> Workspace:
    """Return a workspace without decisions."""
    setup_workspace(git_repo, load_kinds())
    return open_workspace(git_repo)


@pytest.fixture
def write(workspace: Workspace) -> Write:
    def put(name: str, title: str, status: str = "accepted", text: str = "") -> str:
        path = f"docs/adr/{name}"
        file = workspace.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"---\nstatus: {status}\n---\n\n# {title}\n\n## Context\n\nWhy.\n{text}\n## "
            f"Decision\n\nThat.\n"
        )
        return path

    return put


def records(workspace: Workspace) -> RecordSet:
    return read_collection(open_workspace(workspace.root)).records


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("OPS-ADR-0001-queues.md", ("0001", "OPS-ADR-0001", "OPS-ADR-0001-queues")),
        ("TDR-0001-queues.md", ("0001", "TDR-0001", "TDR-0001-queues")),
        ("adr-0001-queues.md", ("0001", "adr-0001-queues")),
        ("0001-queues.md", ("0001", "0001-queues")),
    ],
)
def test_a_decision_is_found_by_what_its_series_calls_it(
    workspace: Workspace, write: Write, name: str, names: tuple[str, ...]
) -> None:
    write(name, "Queues")
    backfill(workspace)
    (record,) = records(workspace)
    assert (record.id, record.legacy_ids) == ("ADR-0001", names)


def test_two_clones_make_the_same_record(
    workspace: Workspace, write: Write, tmp_path: Path
) -> None:
    """A document adopted in two clones has one uid,
    so that a merge sees one record and not a collision.
    """
    write("0001-first.md", "First")
    other = open_workspace(Path(shutil.copytree(workspace.root, tmp_path / "clone")))
    backfill(workspace)
    backfill(other)
    assert records(workspace).get("ADR-0001").uid == records(other).get("ADR-0001").uid


@pytest.mark.parametrize(
    ("path", "heading", "called", "feature"),
    [
        ("docs/DECISIONS.md", "D7. One queue", "D7", None),
        ("docs/decisions.md", "✅ Decision 7: One queue", "Decision 7", None),
        ("billing/DECISIONS.md", "[ADR-007] One queue", "ADR-007", "billing"),
        ("architecture/adr-log.md", "ADR-7 — One queue", "ADR-7", None),
    ],
)
def test_a_report_names_an_entry_as_its_log_does(
    workspace: Workspace, path: str, heading: str, called: str, feature: str | None
) -> None:
    file = workspace.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"# Log\n\n## {heading}\n\nStatus: Accepted\n\nOne.\n", "utf-8")

    report = backfill(workspace, [path])

    assert [(outcome.source, outcome.record) for outcome in report.of("taken")] == [
        (f"{path} · {called}", "ADR-0007")
    ]
    assert read_collection(workspace).records.get("ADR-0007").text("feature") == feature


def test_a_folder_of_tests_takes_no_new_decisions(workspace: Workspace) -> None:
    folder = workspace.root / "tests/data/adr"
    folder.mkdir(parents=True)
    (folder / "0001-first.md").write_text(
        "# First\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n"
    )
    backfill(workspace, ["tests/data/adr/0001-first.md"])
    adr = open_workspace(workspace.root).config.adr
    assert (adr.folder, adr.folders) == ("docs/adr", ("tests/data/adr",))


def test_decisions_of_tests_among_others_are_adopted(workspace: Workspace) -> None:
    paths = ("ops/0001-first.md", "test/0002-second.md", "ui/0003-third.md")
    for path in paths:
        (workspace.root / path).parent.mkdir()
        (workspace.root / path).write_text(
            "# First\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n"
        )
    backfill(workspace, paths)
    assert open_workspace(workspace.root).config.adr.folders == ("ops", "test", "ui")


@pytest.mark.parametrize(
    ("first", "second"), [("", ""), ("2024-03/", "2024-04/"), ("2024/03/", "2025/01/")]
)
def test_a_new_folder_is_named_in_the_configuration(
    workspace: Workspace, first: str, second: str
) -> None:
    folder = workspace.root / "notes/decisions"
    for below in {first, second}:
        (folder / below).mkdir(parents=True)
    (folder / f"{first}0001-first.md").write_text(
        "# First\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n"
    )
    backfill(workspace, [f"notes/decisions/{first}0001-first.md"])
    config = open_workspace(workspace.root).config
    assert (config.adr.folder, config.adr.folders) == ("notes/decisions", ())
    (folder / f"{second}0002-second.md").write_text(
        "# Second\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n"
    )
    assert backfill(open_workspace(workspace.root)).records == ("ADR-0002",)


@pytest.mark.parametrize(
    ("remote", "ids"),
    [
        ("git@example.org:team/queue.git", ("ADR-0001",)),
        ("https://user@example.org/Team/Queue", ("ADR-0001",)),
        ("ssh://git@example.org:2222/team/queue.git/", ("ADR-0001",)),
        ("https://example.org/other/queue.git", ()),
    ],
)
def test_an_address_in_the_own_repository_is_its_document(
    workspace: Workspace, git: Callable[..., str], remote: str, ids: tuple[str, ...]
) -> None:
    git(workspace.root, "remote", "add", "origin", remote)
    targets = Targets(
        [RecordLocation("ADR-0001", "docs/adr/0001-a.md", 1)], workspace.git.web_addresses()
    )
    url = "https://example.org/team/queue/blob/main/docs/adr/0001-a.md?plain=1"
    relation = Relation("supersedes", url, Position(1, 1), Span(0, 1), url)
    assert targets.find("docs/adr/0002-b.md", relation)[0] == ids


@pytest.mark.parametrize(
    ("target", "ids"),
    [
        ("TEP-0107", ("ADR-0107",)),
        ("RFC-0107", ()),
        ("JIRA-0107", ()),
        ("TEP-0012", ()),
        ("CVE-012", ()),
    ],
)
def test_a_code_names_the_decision_whose_title_has_it(
    workspace: Workspace, write: Write, target: str, ids: tuple[str, ...]
) -> None:
    """The number alone leads to no decision: a request or a ticket may have the same one."""
    write("0107-queue.md", "TEP-0107: Queue")
    write("0012-bus.md", "Bus")
    write("0113-events.md", "Events", f"accepted, supersedes {target}")
    backfill(workspace)
    record = records(workspace).get("ADR-0113")
    assert record is not None
    assert record.supersedes == ids


def test_a_project_of_decisions_alone_has_root_folder(git_repo: Path) -> None:
    setup_workspace(git_repo, load_kinds())
    workspace = open_workspace(git_repo)
    for number in (1, 2):
        text = f"# {number}. Thing {number}\n\n## Status\n\nAccepted\n\n## Decision\n\nThing.\n"
        (git_repo / f"00{number}-thing-{number}.md").write_text(text)
    (git_repo / "examples").mkdir()
    (git_repo / "examples/003-other.md").write_text(
        "# 3. Other\n\n## Status\n\nAccepted\n\n## Decision\n\nOther.\n"
    )
    backfill(workspace, ["001-thing-1.md", "002-thing-2.md"])
    again = open_workspace(git_repo)
    assert again.config.adr.folder == "."
    assert [path for path in decision_paths(again) if "thing" in path or "/" in path] == [
        "001-thing-1.md",
        "002-thing-2.md",
    ]
    added = add_adr(again, NewAdr(title="Thing 3"), Author("Ada", "human")).record
    assert added.source == Source("003-thing-3.md", None, "file", "record")


@pytest.mark.parametrize("first", [(), ("docs/adr/0001-a.md",), ("docs/adr/0002-b.md",)])
def test_a_proposed_successor_that_both_documents_name_is_one(
    workspace: Workspace, write: Write, first: tuple[str, ...]
) -> None:
    write("0001-a.md", "A", "superseded by [B](0002-b.md)")
    write("0002-b.md", "B", "proposed; supersedes [A](0001-a.md)")
    if first:
        backfill(workspace, first)
    report = backfill(workspace)
    assert (report.of("left"), report.of("changed")) == ([], [])
    old, new = records(workspace)
    assert (old.superseded_by, new.supersedes, old.links, new.links) == (
        ("ADR-0002",),
        ("ADR-0001",),
        (),
        (),
    )
    assert not {"x-unresolved"} & {*old.data, *new.data}


@pytest.mark.parametrize(
    ("head", "question"),
    [
        ("status: accepted", "its status is accepted, but ADR-0002 says that it is replaced"),
        ("date: 2026-01-02", "it states no status, but ADR-0002 says that it is replaced"),
    ],
)
def test_a_question_names_the_document_that_tells_of_a_replacement(
    workspace: Workspace, head: str, question: str
) -> None:
    report = _replaced(workspace, head, "supersedes: ADR-0001")
    questions = [each.reason for each in report.of("changed") if "replace" in each.reason]

    assert len(questions) == 1
    assert questions[0].startswith(question)
    assert questions[0].endswith("correct the document of ADR-0002")


@pytest.mark.parametrize("status", ["status: accepted\n", "status: deprecated\n", ""])
def test_a_decision_that_names_its_successor_is_superseded(
    workspace: Workspace, status: str
) -> None:
    report = _replaced(workspace, f"{status}superseded_by: ADR-0002", "")
    records = read_collection(workspace).records

    assert {record.id: record.status.name for record in records} == {
        "ADR-0001": "superseded",
        "ADR-0002": "accepted",
    }
    assert not [each for each in report.of("changed") if "replace" in each.reason]


def _replaced(workspace: Workspace, head: str, other: str) -> TakeoverReport:
    folder = workspace.root / "docs/adr"
    folder.mkdir(parents=True, exist_ok=True)
    body = "## Context\n\nWhy.\n\n## Decision\n\nThat.\n"
    (folder / "0001-use-a.md").write_text(f"---\n{head}\n---\n\n# Use A\n\n{body}")
    heads = f"status: accepted\n{other}"
    (folder / "0002-use-b.md").write_text(f"---\n{heads}\n---\n\n# Use B\n\n{body}")
    return backfill(workspace)


@pytest.mark.parametrize(
    ("old", "new"), [("20260101-a.md", "20260101-b.md"), ("0001-a.md", "0007 a.md")]
)
def test_a_renamed_document_gets_no_second_record(
    workspace: Workspace, write: Write, old: str, new: str
) -> None:
    write(old, "A")
    backfill(workspace)
    (workspace.root / "docs/adr" / old).rename(workspace.root / "docs/adr" / new)

    (left,) = backfill(workspace).of("left")

    assert (left.record, len(records(workspace))) == ("ADR-0001", 1)
    words = ("orbit", "adr", "backfill", "--moved", f"docs/adr/{old}", f"docs/adr/{new}")
    command = f"`{shlex.join(words)}`"
    assert command in left.reason
    assert [item.hint for item in engine.run(workspace).diagnostics if item.code == "ORB703"] == [
        command
    ]


def test_what_a_proposed_decision_would_replace_is_a_record_still(
    workspace: Workspace, write: Write
) -> None:
    write("0001-a.md", "A", "accepted")
    write("0002-b.md", "B", "proposed; supersedes [A](0001-a.md)")
    backfill(workspace)
    (finding,) = (item for item in engine.run(workspace).diagnostics if item.code == "ORB301")
    assert (
        finding.message
        == "its document says `supersedes 0001-a.md`, which is not a link between records"
    )


TAKEN = tuple(
    Outcome("taken", f"adr/{number:04}.md", f"ADR-{number:04}", "") for number in range(12)
)
QUESTIONS = (
    *(Outcome("changed", entry.source, entry.record, UNSTATED) for entry in TAKEN[:3]),
    Outcome(
        "changed", "adr/0003.md", "ADR-0003", f"the status `moot` is not recognised, {UNKNOWN}"
    ),
    *(
        Outcome("changed", f"adr/{number:04}.md", f"ADR-{number:04}", f"reason {number}")
        for number in range(7)
    ),
)
LEFT = tuple(Outcome("left", f"adr/{name}.md", None, "a template") for name in "abcdefgh")
OUTCOMES = (
    *TAKEN,
    *QUESTIONS,
    *LEFT,
    Outcome("changed", ".gitignore", None, "written for this tool"),
)


def test_a_report_fits_a_screen() -> None:
    """Each part has five lines; outcomes of one reason share a line, and unknown statuses too."""
    lines = (
        TakeoverReport("madr", "adr", False, OUTCOMES, tuple(status_notes(OUTCOMES)))
        .text()
        .splitlines()
    )

    assert (
        lines[0]
        == "adr (madr): 12 taken, 7 of them with a question; 8 left out; 1 changed elsewhere"
    )
    assert lines[2:9] == [
        "Taken:",
        *(f"  {e.source} → {e.record}" for e in TAKEN[:5]),
        "  and 7 more: --verbose",
    ]
    assert lines[10:12] == ["Taken, with a question:", "  3 × no status stated"]
    assert lines[16] == "  and 4 more: --verbose"
    assert lines[18:20] == ["Left out:", "  8 × a template (adr/a.md, …)"]
    assert "no status for 3 decisions: `orbit accept --status unknown`" in lines[-4]
    assert (
        lines[-1] == "next: `orbit accept --status unknown`, if you follow all that state no status"
    )
    assert len(lines) < 30


def test_a_verbose_report_names_every_document() -> None:
    text = TakeoverReport("madr", "adr", False, OUTCOMES).text(verbose=True)

    assert "more:" not in text
    assert all(outcome.source in text and outcome.reason in text for outcome in OUTCOMES)


def test_a_report_says_what_comes_next() -> None:
    assert (
        TakeoverReport("madr", "adr", True, TAKEN)
        .text()
        .endswith("\nnext: the same command without `--dry-run`")
    )
    assert (
        TakeoverReport("madr", "adr", False, TAKEN)
        .text()
        .endswith("then `orbit scope suggest`: which files the decisions apply to")
    )
    nothing = TakeoverReport("madr", "adr", True, ()).text()
    assert nothing == 'adr (madr): nothing to take\n\nnext: `orbit adr new "Title"`'


LOG = (
    "# Decisions\n\n## ADR-1: One\n\nStatus: accepted\n\nCost: a.\n\n## ADR-2: Two\n\nStatus: "
    "accepted\n\nCost: b.\n"
)


def paths(registry: Registry) -> dict[str, str]:
    registry.refresh()
    return {
        record.id: record.source.path
        for record in registry.records.of_kind("adr")
        if record.source is not None
    }


def missing(registry: Registry) -> list[str]:
    """Return which records the gate finds without a document."""
    return [
        str(finding.record)
        for finding in engine.run(registry.workspace).diagnostics
        if finding.code == "ORB703"
    ]


def test_a_renamed_log_is_followed(registry: Registry) -> None:
    root = registry.workspace.root
    (root / "DECISIONS.md").write_text(LOG)
    Registry.import_from(root)
    (root / "DECISIONS.md").rename(root / "LOG.md")
    registry = Registry.open(root)
    assert missing(registry) == ["ADR-0001", "ADR-0002"]

    would = registry.adr_backfill(moves=[("DECISIONS.md", "LOG.md")], dry_run=True).data
    assert ([outcome.record for outcome in would.of("changed")], missing(registry)) == (
        ["ADR-0001", "ADR-0002", None],
        ["ADR-0001", "ADR-0002"],
    )
    done = registry.adr_backfill(moves=[("DECISIONS.md", "LOG.md")]).data
    assert done.outcomes == would.outcomes
    registry = Registry.open(root)
    assert (paths(registry), missing(registry)) == (
        {"ADR-0001": "LOG.md", "ADR-0002": "LOG.md"},
        [],
    )
    assert registry.add_adr(NewAdr("Three")).document == "LOG.md"
    with pytest.raises(UsageError, match=r"no decision has its text in DECISIONS\.md"):
        follow_moves(registry.workspace, [("DECISIONS.md", "LOG.md")])


ALTERNATIVES = """
## Alternatives considered

- Redis: one more server.
- **SQS.** One cloud.

"""


def test_an_import_suggests_the_options_that_a_text_rejects(
    workspace: Workspace, write: Write
) -> None:
    write("0001-a.md", "A", text=ALTERNATIVES)
    backfill(workspace)
    (record,) = records(workspace)
    assert record.data["rejected"] == [
        {"option": "Redis", "reason": "one more server"},
        {"option": "SQS", "reason": "One cloud"},
    ]


@pytest.mark.parametrize(("listed", "names"), [(None, ["Redis", "SQS"]), ([], [])])
def test_only_a_record_without_a_list_of_options_gets_one(
    workspace: Workspace, write: Write, listed: list[object] | None, names: list[str]
) -> None:
    path = write("0001-a.md", "A")
    backfill(workspace)
    (record,) = records(workspace)
    if listed is not None:
        file = workspace.root / record.path
        file.write_text(f"{file.read_text('utf-8')}rejected: []\n", "utf-8")

    file = workspace.root / path
    file.write_text(file.read_text("utf-8").replace("\n## Decision", f"{ALTERNATIVES}## Decision"))
    report = backfill(workspace)
    (record,) = records(workspace)
    assert [option.option for option in record.rejected] == names
    assert len(report.of("changed")) == (1 if names else 0)
    assert backfill(workspace).of("changed") == []


def test_an_import_counts_the_documents_that_it_reads(workspace: Workspace, write: Write) -> None:
    paths = [write(f"000{number}-a.md", f"A {number}") for number in (1, 2, 3)]
    steps: list[tuple[str, int, int]] = []
    order = Order(dry_run=True, on_step=lambda step, done, of: steps.append((step, done, of)))
    adopt(workspace, paths, order)
    assert steps == [("reading the documents", number, 3) for number in range(3)]


@pytest.mark.parametrize(
    ("line", "is_committed", "source"),
    [
        ("Date: 2026-01-02", True, None),
        ("Date: 2026-01", True, "first commit"),
        ("", True, "first commit"),
        ("", False, "import"),
    ],
)
def test_a_record_says_where_its_day_is_from(
    workspace: Workspace,
    git: Callable[..., str],
    line: str,
    is_committed: bool,
    source: str | None,
) -> None:
    document = workspace.root / "docs/adr/0001-x.md"
    document.parent.mkdir(parents=True, exist_ok=True)
    text = f"# Use x\n\nStatus: accepted\n{line}\n\n## Decision\n\nThat.\n"
    document.write_text(text, encoding="utf-8")
    if is_committed:
        git(workspace.root, "add", "-A")
        git(workspace.root, "commit", "-qm", "A decision")

    adopt(workspace, ["docs/adr/0001-x.md"], Order())
    (record,) = read_collection(workspace).records
    assert record.text("x-created-from") == source
