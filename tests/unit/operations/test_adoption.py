"""Records for decisions that stand in documents: which are made, how they find each other, and what stays as it is."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.files import commit

from orbit_registry.checks import engine
from orbit_registry.formats.adr.model import Relation
from orbit_registry.formats.position import Position, Span
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Source
from orbit_registry.model.record_set import RecordSet
from orbit_registry.operations.adoption import adopt, backfill
from orbit_registry.operations.adr import NewAdr, add_adr
from orbit_registry.operations.document_facts import RecordLocation, Targets
from orbit_registry.operations.init import setup_workspace
from orbit_registry.repository.documents import decision_paths, read_documents
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
            f"---\nstatus: {status}\n---\n\n# {title}\n\n## Context\n\nWhy.\n{text}\n## Decision\n\nThat.\n"
        )
        return path

    return put


def records(workspace: Workspace) -> RecordSet:
    return read_collection(open_workspace(workspace.root)).records


def files(workspace: Workspace) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (workspace.orbit / "adrs").rglob("*") if path.is_file()}


def test_a_document_added_by_hand_gets_a_record(workspace: Workspace, write: Write) -> None:
    write("0001-first.md", "First")
    assert backfill(workspace).records == ("ADR-0001",)
    write("0002-second.md", "Second", "rejected")
    assert backfill(workspace, ["docs/adr/0002-second.md"]).records == ("ADR-0002",)
    assert [(record.id, record.status.name, record.title) for record in records(workspace)] == [
        ("ADR-0001", "accepted", "First"),
        ("ADR-0002", "rejected", "Second"),
    ]
    before = files(workspace)
    again = backfill(workspace)
    assert (again.records, len(again.of("present")), files(workspace)) == ((), 2, before)


def test_an_adopted_decision_has_the_dates_of_its_document(
    workspace: Workspace, write: Write, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for day, text in (("2024-03-05", ""), ("2024-04-09", "More.\n")):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{day}T10:00:00Z")
        write("0001-first.md", "First", text=text)
        write("0002-second.md", "Second", "accepted\ndate: 2023-01-31", text)
        commit(workspace.root, day)
    write("0003-third.md", "Third", "accepted\ndate: 2023-02-28")

    backfill(workspace)

    assert [
        (record.text("date"), record.text("created_at"), record.text("updated_at")) for record in records(workspace)
    ] == [
        (None, "2024-03-05T10:00:00Z", "2024-04-09T10:00:00Z"),
        ("2023-01-31", "2023-01-31T00:00:00Z", "2024-04-09T10:00:00Z"),
        ("2023-02-28", "2023-02-28T00:00:00Z", "2023-02-28T00:00:00Z"),
    ]


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


def test_what_leads_nowhere_is_kept_until_it_leads_somewhere(workspace: Workspace, write: Write) -> None:
    write("0001-first.md", "First", "superseded by 0002", "\nSee [third](0003-third.md).\n")
    report = backfill(workspace)
    first = records(workspace).get("ADR-0001")
    assert first.data["x-unresolved"] == [{"rel": "superseded_by", "to": "0002"}]
    assert [outcome.reason for outcome in report.of("left")] == [
        "`superseded by 0002` is not a link between records: no decision has that number or name; "
        "the next `orbit adr backfill` makes it once that decision has a record"
    ]

    file = workspace.root / first.path
    file.write_text(file.read_text() + "x-note: mine # a comment\n")
    write("0002-second.md", "Second")
    write("0003-third.md", "Third")
    backfill(workspace)
    first, second, _ = records(workspace)
    assert first.superseded_by == ("ADR-0002",)
    assert second.supersedes == ("ADR-0001",)
    assert [(link.rel, link.to) for link in first.links] == [("references", "ADR-0003")]
    assert "x-unresolved" not in first.data
    assert "x-note: mine # a comment\n" in file.read_text()


def test_an_edge_that_someone_removed_is_not_written_again(workspace: Workspace, write: Write) -> None:
    write("0001-first.md", "First", text="\nSee [second](0002-second.md).\n")
    write("0002-second.md", "Second")
    backfill(workspace)
    file = workspace.orbit / "adrs/ADR-0001/adr.yaml"
    file.write_text(file.read_text().replace("links:\n  - rel: references\n    to: ADR-0002\n", ""))
    write("0003-third.md", "Third")
    assert backfill(workspace).records == ("ADR-0003",)
    assert records(workspace).get("ADR-0001").links == ()


def test_a_record_that_cannot_be_read_is_not_made_twice(workspace: Workspace, write: Write) -> None:
    write("0001-first.md", "First")
    backfill(workspace)
    (workspace.orbit / "adrs/ADR-0001/adr.yaml").write_text("id: [torn\n")
    report = backfill(workspace)
    assert (report.records, [outcome.record for outcome in report.of("left")]) == ((), ["ADR-0001"])
    assert sorted(path.name for path in (workspace.orbit / "adrs").iterdir()) == ["ADR-0001"]


def test_a_document_that_moved_gets_no_second_record(workspace: Workspace, write: Write) -> None:
    old = write("0001-first.md", "First")
    backfill(workspace)
    (workspace.root / old).rename(workspace.root / "docs/adr/0001-first-of-all.md")
    report = backfill(workspace)
    assert report.records == ()
    step = "`orbit adr backfill --moved docs/adr/0001-first.md docs/adr/0001-first-of-all.md`"
    assert [(outcome.record, step in outcome.reason) for outcome in report.of("left")] == [("ADR-0001", True)]


def test_two_clones_make_the_same_record(workspace: Workspace, write: Write, tmp_path: Path) -> None:
    """A document adopted in two clones has one uid, so that a merge sees one record and not a collision."""
    write("0001-first.md", "First")
    other = open_workspace(Path(shutil.copytree(workspace.root, tmp_path / "clone")))
    backfill(workspace)
    backfill(other)
    assert records(workspace).get("ADR-0001").uid == records(other).get("ADR-0001").uid


def test_a_bad_document_hides_no_other(workspace: Workspace, write: Write) -> None:
    write("0001-first.md", "First")
    folder = workspace.root / "docs/adr"
    (folder / "0002-latin.md").write_bytes(b"# T\xfctel\n")
    (folder / "0003-huge.md").write_bytes(b"# Huge\n" + b"x" * 6_000_000)
    (folder / "0004-link.md").symlink_to(folder / "0001-first.md")
    (folder / "0005-empty.md").write_text("")
    (folder / "0006-bom.md").write_bytes("\ufeff# With a mark\r\n\r\n## Status\r\n\r\nAccepted\r\n".encode())
    (folder / "0007-nul.md").write_bytes(b"# Nul \x00 here\n\n## Status\n\nAccepted\n")
    report = backfill(workspace, ["docs/adr"])
    remaining = {outcome.source.rpartition("/")[2]: outcome.reason for outcome in report.of("left")}
    assert report.records[:2] == ("ADR-0001", "ADR-0006")
    assert "not valid UTF-8" in remaining["0002-latin.md"]
    assert "5,000,000" in remaining["0003-huge.md"]
    assert "symbolic link" in remaining["0004-link.md"]
    assert remaining["0005-empty.md"] == "empty; nothing to do until it is written"
    assert read_collection(workspace).problems == ()


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

    assert [(outcome.source, outcome.record) for outcome in report.of("taken")] == [(f"{path} · {called}", "ADR-0007")]
    assert read_collection(workspace).records.get("ADR-0007").text("feature") == feature


@pytest.mark.parametrize(("first", "second"), [("", ""), ("2024-03/", "2024-04/"), ("2024/03/", "2025/01/")])
def test_a_new_folder_is_named_in_the_configuration(workspace: Workspace, first: str, second: str) -> None:
    folder = workspace.root / "notes/decisions"
    for below in {first, second}:
        (folder / below).mkdir(parents=True)
    (folder / f"{first}0001-first.md").write_text("# First\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n")
    adopt(workspace, [f"notes/decisions/{first}0001-first.md"])
    config = open_workspace(workspace.root).config
    assert (config.adr.folder, config.adr.folders) == ("notes/decisions", ())
    (folder / f"{second}0002-second.md").write_text("# Second\n\n## Status\n\nAccepted\n\n## Decision\n\nYes.\n")
    assert backfill(open_workspace(workspace.root)).records == ("ADR-0002",)


TICKET = "# Retry twice\n\nStatus: accepted\n\nA request is sent again.\n\nCost: some requests are sent twice.\n"


def test_a_record_or_a_name_makes_a_document_a_decision(workspace: Workspace) -> None:
    file = workspace.root / "notes/0007-retry.md"
    file.parent.mkdir()
    file.write_text(TICKET)
    assert [outcome.reason for outcome in backfill(workspace, ["notes"]).of("left")] == [
        "a number and a status, but nothing that it decides; "
        "if it is a decision, `orbit import` with the file's own name imports it"
    ]
    assert backfill(workspace, ["notes/0007-retry.md"]).records == ("ADR-0007",)
    again = backfill(workspace, ["notes"])
    assert (again.of("left"), [outcome.record for outcome in again.of("present")]) == ([], ["ADR-0007"])
    documents = read_documents(workspace, records(workspace))
    result = documents.of(records(workspace).get("ADR-0007"))
    assert result is not None
    assert result[1].title == "Retry twice"
    assert engine.run(workspace).diagnostics == ()


def test_a_link_to_a_project_document_is_no_finding(workspace: Workspace, write: Write) -> None:
    write("0001-first.md", "First")
    backfill(workspace)
    folder = workspace.root / "docs/adr"
    (folder / "0001-also.md").symlink_to("0001-first.md")
    (folder / "0002-gone.md").symlink_to("nowhere.md")
    (folder / "0003-out.md").symlink_to("/etc/hostname")
    (folder / "0004-circle.md").symlink_to("0004-circle.md")
    result = [finding.location.path for finding in engine.run(workspace).diagnostics if finding.code == "ORB108"]
    assert result == [f"docs/adr/{name}.md" for name in ("0002-gone", "0003-out", "0004-circle")]


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
    targets = Targets([RecordLocation("ADR-0001", "docs/adr/0001-a.md", 1)], workspace.git.web_addresses())
    url = "https://example.org/team/queue/blob/main/docs/adr/0001-a.md"
    relation = Relation("supersedes", url, Position(1, 1), Span(0, 1), url)
    assert targets.find("docs/adr/0002-b.md", relation)[0] == ids


def test_a_project_of_decisions_alone_has_root_folder(git_repo: Path) -> None:
    setup_workspace(git_repo, load_kinds())
    workspace = open_workspace(git_repo)
    for number in (1, 2):
        text = f"# {number}. Thing {number}\n\n## Status\n\nAccepted\n\n## Decision\n\nThing.\n"
        (git_repo / f"00{number}-thing-{number}.md").write_text(text)
    (git_repo / "examples").mkdir()
    (git_repo / "examples/003-other.md").write_text("# 3. Other\n\n## Status\n\nAccepted\n\n## Decision\n\nOther.\n")
    adopt(workspace, ["001-thing-1.md", "002-thing-2.md"])
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
        adopt(workspace, first)
    report = backfill(workspace)
    assert (report.of("left"), report.of("changed")) == ([], [])
    old, new = records(workspace)
    assert (old.superseded_by, new.supersedes, old.links, new.links) == (("ADR-0002",), ("ADR-0001",), (), ())
    assert not {"x-unresolved"} & {*old.data, *new.data}


def test_a_live_decision_replaces_its_proposed_successor(workspace: Workspace, write: Write) -> None:
    write("0001-a.md", "A", "accepted; supersedes [B](0002-b.md)")
    write("0002-b.md", "B", "proposed; supersedes [A](0001-a.md)")
    (remaining,) = backfill(workspace).of("left")
    assert remaining.reason.endswith("a proposed decision replaces nothing; the other one replaces it")
    old = records(workspace).get("ADR-0002")
    assert (old.superseded_by, old.supersedes, old.links) == (("ADR-0001",), (), ())


def test_what_a_proposed_decision_would_replace_is_a_record_still(workspace: Workspace, write: Write) -> None:
    write("0001-a.md", "A", "accepted")
    write("0002-b.md", "B", "proposed; supersedes [A](0001-a.md)")
    backfill(workspace)
    (finding,) = (item for item in engine.run(workspace).diagnostics if item.code == "ORB301")
    assert finding.message == "its document says `supersedes 0001-a.md`, which is not a link between records"
