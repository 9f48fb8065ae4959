"""Statuses: each kind's table decides, a refusal changes no byte,
and the document is kept in step.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from orbit_registry.errors import RecordNotFoundError, RefusedError
from orbit_registry.formats.yaml import load
from orbit_registry.model.kind import Kind, load_kinds
from orbit_registry.model.record import Record
from orbit_registry.operations.adr import NewAdr
from orbit_registry.operations.lifecycle import transition, transitions
from orbit_registry.registry import Registry
from orbit_registry.repository.documents import read_documents
from orbit_registry.repository.writer import FIXED, create_record
from orbit_registry.workspace.author import Author

HUMAN, AGENT, BODY = (
    Author("Ada", "human"),
    Author("bot", "agent", "model-1"),
    "## Decision\n\nX.\n\n- Cost: time.\n",
)
FIELDS: Any = load((Path(__file__).parents[2] / "cases/fields_of_kinds.yaml").read_text("utf-8"))
KINDS = list(load_kinds())
STARTS = [(kind.name, start) for kind in KINDS for start in kind.statuses]


def tree(root: Path) -> dict[str, bytes]:
    """Return every file outside the local state, with its bytes;
    records that wait are among them.
    """
    files = (path for path in root.rglob("*") if path.is_file())
    remaining = [path for path in files if "state" not in path.parts or "inbox" in path.parts]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in remaining}


def new_record(registry: Registry, kind: Kind, status: str = "") -> Record:
    """Return a new record of a kind, its file then set to a status by hand."""
    if kind.in_document:
        record = registry.add_adr(NewAdr("Use the thing", paths=("src/**",), body=BODY)).record
    elif kind.in_file:
        record = create_record(
            registry.workspace, kind, HUMAN, FIELDS[kind.name], attachments={"2/a.md": ""}
        )
    else:
        arguments = FIELDS.get(kind.name, {})
        needed = [name for name in kind.schema.document["required"] if name not in FIXED]
        record = registry.add(
            kind.name, {name: arguments.get(name, "Look before you leap") for name in needed}, HUMAN
        )
    if status:
        file = registry.workspace.root / record.path
        text = file.read_text("utf-8").replace(f"status: {record.status.name}", f"status: {status}")
        if kind.status(status).phase == "live" and record.phase == "pending":
            text += "approval: {approved_by: Ada, approved_at: 2026-01-01T00:00:00Z}\n"
        file.write_text(text, "utf-8")
        registry.refresh()
    return registry.get(record.id)


@pytest.mark.parametrize(("kind_name", "start"), STARTS)
def test_transitions_are_as_the_table_says(registry: Registry, kind_name: str, start: str) -> None:
    kind = registry.workspace.kinds[kind_name]
    record, targets = new_record(registry, kind, start), kind.status(start).to
    before = tree(registry.workspace.root)

    assert registry.transition(record.id, start).status.name == start
    for to in {*kind.statuses, "nonsense"} - {start, *targets} | {*targets} & {"superseded"}:
        with pytest.raises(RefusedError) as caught:
            registry.transition(record.id, to)
        hint = str(caught.value.hint)
        if to == "nonsense":
            assert all(name in hint for name in kind.statuses)
        elif to in targets:
            assert f"orbit {kind_name} supersede {record.id} --with" in hint
        else:
            assert all(name in hint for name in targets) if targets else "final" in hint
    assert tree(registry.workspace.root) == before

    for to in {*targets} - {"superseded"}:
        record = new_record(registry, kind, start)
        assert registry.transition(record.id, to).status.name == to
        registry.refresh()
        assert registry.get(record.id).status.name == to


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_change_of_status_changes_status_and_time_alone(registry: Registry, kind: Kind) -> None:
    record = new_record(
        registry,
        kind,
        next(value.name for value in kind.statuses.values() if value.phase == "live"),
    )
    file = registry.workspace.root / record.path
    file.write_text(
        file.read_text("utf-8").replace("updated_at: 2", "updated_at: 1") + "x-own: 1  # mine\n",
        "utf-8",
    )
    before = tree(registry.workspace.root)
    verb, status = next(
        iter((verb, to) for verb, to in kind.verbs.items() if to in record.status.to)
    )

    registry.transition(record.id, status)

    after = tree(registry.workspace.root)
    changed = {path for path in after if after[path] != before.get(path)}
    assert set(after) == set(before), verb
    removed, come = [], []
    for path in changed:
        old, new = before[path].decode().splitlines(), after[path].decode().splitlines()
        removed += [line for line in old if line not in new]
        come += [line for line in new if line not in old]
    assert all(re.match(r"status: |updated_at: |Status: ", line) for line in (*removed, *come))
    assert len(changed) == (2 if kind.in_document else 1)


@pytest.fixture
def candidate(registry: Registry) -> Record:
    return registry.add(
        "learning", {"summary": "Look before you leap", "body": "Because.\nReally."}, AGENT
    )


def test_an_agent_may_not_add_what_holds(registry: Registry) -> None:
    before = tree(registry.workspace.root)

    with pytest.raises(RefusedError, match="an agent may not make a learning active"):
        registry.add("learning", {"summary": "Leap", "status": "active"}, AGENT)

    assert tree(registry.workspace.root) == before


def test_promoting_moves_the_folder_out_with_everything_in_it(
    registry: Registry, candidate: Record
) -> None:
    root = registry.workspace.root
    file = root / candidate.path
    text = (
        file.read_text("utf-8").replace("status: candidate", "status: candidate  # for review")
        + "x-own: 1\n"
    )
    file.write_text(text, "utf-8")
    votes = (
        f'{{"learning_id": "{candidate.id}", "voter_model": "m", "voted_at": '
        f'"2026-01-01T00:00:00Z", "task_id": "T"}}\n'
    )
    (file.parent / "votes.jsonl").write_text(votes, "utf-8")
    (file.parent / "evidence").mkdir()
    (file.parent / "evidence/screen.png").write_bytes(b"\x89PNG\xff\x00")

    moved = transition(registry.workspace, candidate.id, "active", HUMAN)

    assert moved.path == f".orbit/learnings/{candidate.id}/learning.yaml"
    folder = root / f".orbit/learnings/{candidate.id}"
    now = (folder / "learning.yaml").read_text("utf-8")
    stamp = re.compile(r"updated_at: \S+")
    reviewed = re.compile(
        r"approval:\n  suggested_by: bot\n  approved_by: Ada\n  approved_at: .*\n"
    )
    text = text.replace("status: candidate  #", "status: active  #").replace(
        "$schema=../../../../", "$schema=../../"
    )
    assert stamp.sub("", reviewed.sub("", now)) == stamp.sub("", text)
    assert moved.approval["approved_by"] == "Ada"
    assert (folder / "votes.jsonl").read_text("utf-8") == votes
    assert (folder / "evidence/screen.png").read_bytes() == b"\x89PNG\xff\x00"
    assert not file.parent.exists()
    registry.refresh()
    assert [record.id for record in registry.records] == [candidate.id]
    assert registry.get(candidate.id).votes


def test_a_rejected_candidate_leaves_the_inbox_too(registry: Registry, candidate: Record) -> None:
    """A no is remembered where everybody sees it, so that it is not suggested again."""
    moved = transition(registry.workspace, candidate.id, "rejected", HUMAN)

    assert moved.path == f".orbit/learnings/{candidate.id}/learning.yaml"


def test_a_committed_inbox_is_reviewed_in_git(registry: Registry) -> None:
    config = registry.workspace.orbit / "config.yaml"
    config.write_text(config.read_text("utf-8") + "inbox: committed\n", "utf-8")
    result = Registry.open(registry.workspace.root)

    record = result.add("learning", {"summary": "Leap"}, AGENT)
    assert record.path == f".orbit/inbox/learnings/{record.id}/learning.yaml"

    assert (
        result.transition(record.id, "active").path == f".orbit/learnings/{record.id}/learning.yaml"
    )
    assert not (registry.workspace.orbit / "inbox/learnings" / record.id).exists()


def two(registry: Registry, kind: Kind) -> tuple[Record, Record]:
    live = next(value.name for value in kind.statuses.values() if value.phase == "live")
    return new_record(registry, kind, live), new_record(registry, kind, live)


@pytest.mark.parametrize(
    "kind", [item for item in KINDS if "superseded" in item.statuses], ids=lambda kind: kind.name
)
def test_supersession_writes_both_ends(registry: Registry, kind: Kind) -> None:
    old, new = two(registry, kind)

    first, second = registry.supersede(old.id, new.id)

    assert (first.status.name, first.superseded_by, first.supersedes) == (
        "superseded",
        (new.id,),
        (),
    )
    assert (second.status.name, second.superseded_by, second.supersedes) == (
        new.status.name,
        (),
        (old.id,),
    )
    before = tree(registry.workspace.root)
    registry.supersede(old.id, new.id)
    assert tree(registry.workspace.root) == before


def refusal(registry: Registry, old: str, new: str) -> str:
    """Return why a supersession is refused; no byte may change."""
    before = tree(registry.workspace.root)
    with pytest.raises(RefusedError) as caught:
        registry.supersede(old, new)
    assert tree(registry.workspace.root) == before
    return caught.value.message


def test_what_can_not_replace_is_refused(registry: Registry) -> None:
    kinds = registry.workspace.kinds
    old, new = two(registry, kinds["adr"])
    learning = new_record(registry, kinds["learning"])
    pending = registry.add_adr(NewAdr("Maybe", status="proposed")).record
    closed = new_record(registry, kinds["adr"])
    registry.transition(closed.id, "deprecated")

    assert "can't supersede itself" in refusal(registry, old.id, old.id)
    assert "is of the kind learning" in refusal(registry, old.id, learning.id)
    assert "is proposed; only an accepted record" in refusal(registry, old.id, pending.id)
    assert "is deprecated; only an accepted record" in refusal(registry, old.id, closed.id)
    registry.supersede(old.id, new.id)
    assert "would close a circle" in refusal(registry, new.id, old.id)
    with pytest.raises(RefusedError) as caught:
        registry.supersede(new_record(registry, kinds["adr"]).id, pending.id)
    assert (
        caught.value.hint
        == "`orbit accept ADR-0003` first, or name a live record: `orbit adr list --phase live`"
    )


def test_a_circle_is_refused_however_long(registry: Registry) -> None:
    kind = registry.workspace.kinds["learning"]
    first, second = two(registry, kind)
    third = new_record(registry, kind)
    for record, successor in ((second, first), (third, second)):
        file = registry.workspace.root / record.path
        file.write_text(file.read_text("utf-8") + f"superseded_by: [{successor.id}]\n", "utf-8")

    assert "circle" in refusal(registry, first.id, third.id)


def test_one_may_replace_several(registry: Registry) -> None:
    kind = registry.workspace.kinds["learning"]
    first, second = two(registry, kind)
    new = new_record(registry, kind)

    registry.supersede(first.id, new.id)
    registry.supersede(second.id, new.id)

    registry.refresh()
    assert registry.get(new.id).supersedes == (first.id, second.id)


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("log", "log", "[ADR-0002](../search/4_decisions.md#adr-0002--rank-by-bm25-again)"),
        ("file", "log", "[ADR-0002](../design/search/4_decisions.md#adr-0002--rank-by-bm25-again)"),
        ("log", "file", "[ADR-0002](../../adr/0002-rank-by-bm25-again.md)"),
    ],
)
def test_the_link_to_a_successor_leads_to_its_entry(
    registry: Registry, before: str, after: str, line: str
) -> None:
    old = registry.add_adr(NewAdr("Rank by votes", feature="core", style=before, body=BODY)).record
    registry.add_adr(NewAdr("Rank by BM25, again", feature="search", style=after, body=BODY))
    registry.supersede(old.id, "ADR-0002")
    registry.refresh()
    assert f"Superseded by {line}" in (
        registry.workspace.root / str(old.source and old.source.path)
    ).read_text("utf-8")
    ((_, entry),) = filter(
        None, [read_documents(registry.workspace, [old]).of(registry.get(old.id))]
    )
    assert entry.status == "superseded"
    assert line.endswith(f"({entry.targets('superseded_by')[0]})")


def test_each_of_many_moves_or_has_a_reason(registry: Registry) -> None:
    kind = registry.workspace.kinds["learning"]
    first, closed, last = (new_record(registry, kind) for _ in range(3))
    registry.transition(closed.id, "retired")

    done, remaining = transitions(
        registry.workspace, [first.id, closed.id, "L-none0", last.id], "retired", HUMAN
    )

    assert [record.id for record in done] == [first.id, last.id]
    assert [type(error) for error in remaining] == [RefusedError, RecordNotFoundError]
    registry.refresh()
    assert {registry.get(item.id).status.name for item in (first, closed, last)} == {"retired"}


def test_an_agent_moves_none_of_many_that_hold(registry: Registry) -> None:
    records = two(registry, registry.workspace.kinds["learning"])

    with pytest.raises(RefusedError, match="an agent may not change it"):
        transitions(registry.workspace, [record.id for record in records], "retired", AGENT)

    registry.refresh()
    assert {registry.get(each.id).status.name for each in records} == {"active"}


ADOPTED = {
    "front matter": (
        (
            "---\nstatus: accepted # for now\ndate: 2024-01-01\n---\n\n# Use Postgres\n\n## "
            "Context\n\nText.\n"
        ),
        lambda line: line.startswith("status: "),
    ),
    "bullets": (
        (
            "# 2. Use Postgres\n\n* Status: accepted\n* Date: 2024-01-01\n\n## Context\n\nStatus: "
            "of the art.\n"
        ),
        lambda line: line.startswith("* Status: "),
    ),
    "section": (
        (
            "# 2. Use Postgres\n\nDate: 2024-01-01\n\n## Status\n\nAccepted\n\n## Context\n\n"
            "Accepted by all.\n"
        ),
        lambda line: line in ("Accepted",) or line.startswith("Superseded by"),
    ),
    "section with Windows line ends": (
        "# 2. Use Postgres\r\n\r\n## Status\r\n\r\nAccepted\r\n\r\n## Context\r\n\r\nText.\r\n",
        lambda line: line in ("Accepted\r",) or line.startswith("Superseded by"),
    ),
}


@pytest.fixture(params=ADOPTED)
def adopted(request: pytest.FixtureRequest, registry: Registry) -> tuple[Registry, str]:
    folder = registry.workspace.root / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "0002-use-postgres.md").write_bytes(ADOPTED[request.param][0].encode())
    registry.adr_backfill()
    registry.refresh()
    return registry, str(request.param)


def test_a_superseded_document_keeps_its_form_of_status(adopted: tuple[Registry, str]) -> None:
    registry, form = adopted
    text, is_status = ADOPTED[form]
    record = registry.get("ADR-0002")
    assert record.source is not None
    assert record.source.authority == "document"
    new = registry.add_adr(NewAdr("Use SQLite", body=BODY))
    document = registry.workspace.root / "docs/adr/0002-use-postgres.md"

    old, _ = registry.supersede("ADR-0002", new.record.id)

    lines = document.read_bytes().decode().split("\n")
    changed = [line for line in lines if line not in text.split("\n")]
    assert old.status.name == "superseded"
    assert [is_status(line) for line in changed] == [True]
    assert new.record.id in changed[0]
    assert [line for line in lines if not is_status(line)] == [
        line for line in text.split("\n") if not is_status(line)
    ]
    outcome = Registry.open(registry.workspace.root).check()
    assert [
        str(diagnostic)
        for diagnostic in outcome.diagnostics
        if diagnostic.severity.value == "error"
    ] == []


SUPERSEDED_ALREADY = (
    "---\nstatus: superseded\nsupersededBy: {}\n---\n\n# Use files\n\n## Context\n\nText.\n"
)


@pytest.mark.parametrize(
    ("neighbour", "before", "after"),
    [
        ('"0002"', "status: accepted\n", 'status: superseded\nsupersededBy: "0003"\n'),
        ("2", "status: accepted\n", "status: superseded\nsupersededBy: 3\n"),
        (
            "[ADR-0002]",
            "status: accepted\nsupersededBy:\n",
            "status: superseded\nsupersededBy: [ADR-0003]\n",
        ),
        (
            "the other one",
            "status: accepted\n",
            "status: superseded by [ADR-0003](0003-use-sqlite.md)\n",
        ),
    ],
)
def test_a_successor_is_named_as_the_neighbours_name_theirs(
    registry: Registry, neighbour: str, before: str, after: str
) -> None:
    text = f"---\n{before}---\n\n# Use Postgres\n\n## Context\n\nText.\n"
    folder = registry.workspace.root / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "0001-use-files.md").write_text(SUPERSEDED_ALREADY.format(neighbour), "utf-8")
    (folder / "0002-use-postgres.md").write_text(text, "utf-8")
    registry.adr_backfill()
    registry.refresh()
    new = registry.add_adr(NewAdr("Use SQLite", body=BODY)).record

    registry.supersede("ADR-0002", new.id)

    assert (folder / "0002-use-postgres.md").read_text("utf-8") == text.replace(before, after)
    assert "ORB701" not in {
        finding.code for finding in Registry.open(registry.workspace.root).check().diagnostics
    }
