"""Which rows of the snapshot at hand stand in the next one too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orbit_registry.snapshot.build import Base, Held
from orbit_registry.snapshot.delta import base_of
from orbit_registry.snapshot.rows import Source
from orbit_registry.store.cache import FileState
from orbit_registry.store.reader import Reading

INBOX = ".orbit/state/inbox"


def looked_at(project: Any, inbox: str = "") -> tuple[list[Any], list[Source]]:
    """Return the records of a project and their files."""
    reading = Reading(project.workspace)
    files = [Source("record", state, bool(inbox) and path.startswith(inbox)) for path, state in reading.states.items()]
    return list(reading.collection.records), files


def held(records: list[Any], sources: list[Source]) -> Held:
    """Return what a snapshot of these records holds."""
    rows = {one.path: (one.id, one.path.startswith(INBOX), f"hash of {one.path}") for one in records}
    return Held(rows, frozenset((one.file.path, one.role, one.file.sha256) for one in sources if not one.inbox))


def after(project: Any, before: Held, inbox: str = "") -> Base | None:
    """Return what of it a project can begin from now."""
    records, sources = looked_at(project, inbox)
    return base_of(Path("x"), before, records, sources, inbox)


def filled(project: Any) -> Held:
    """Fill a project with five learnings; return what its snapshot holds."""
    for code in ("aaaaa", "bbbbb", "ccccc", "ddddd", "eeeee"):
        project.learning(code)
    return held(*looked_at(project))


def test_only_what_changed_is_made_anew(project: Any) -> None:
    """One changed record, one new and one gone: their rows go, those of the others stay with their hashes."""
    before = filled(project)
    project.learning("aaaaa", priority=3)
    project.learning("fffff")
    (project.root / ".orbit/learnings/L-bbbbb/learning.yaml").unlink()
    base = after(project, before)
    assert base is not None
    assert base.replaced == ["L-aaaaa", "L-bbbbb", "L-fffff"]
    assert {path: known for path, known in base.untouched.items() if "ccccc" in path} == {
        ".orbit/learnings/L-ccccc/learning.yaml": "hash of .orbit/learnings/L-ccccc/learning.yaml"
    }
    assert len(base.untouched) == 3


def test_a_changed_document_touches_the_records_that_name_it(project: Any) -> None:
    """A record whose own files are as they were is made anew where the document with its prose is another."""
    project.adr(1, source={"path": "docs/a.md"})
    before = filled(project)
    records, sources = looked_at(project)
    document = Source("document", FileState("docs/a.md", "other"))
    base = base_of(Path("x"), before, records, [*sources, document], "")
    assert base is not None
    assert base.replaced == ["ADR-0001"]


def test_records_of_one_id_go_together(project: Any) -> None:
    """Rows know their record by its id: where one of two that share it changed, both are made anew."""
    project.learning("zzzzz")
    twin = project.root / ".orbit/learnings/L-yyyyy/learning.yaml"
    project.write(twin.relative_to(project.root).as_posix(), "")
    twin.write_text((project.root / ".orbit/learnings/L-zzzzz/learning.yaml").read_text("utf-8"), "utf-8")
    before = filled(project)
    project.learning("zzzzz", priority=9)
    base = after(project, before)
    assert base is not None
    assert base.replaced == ["L-zzzzz"]
    assert not any("yyyyy" in path or "zzzzz" in path for path in base.untouched)


def test_the_inbox_is_always_made_anew(project: Any) -> None:
    """Of what a candidate rests on the snapshot holds too little to take its rows over."""
    project.learning("kkkkk", inbox=True)
    before = filled(project)
    base = after(project, before, INBOX)
    assert base is not None
    assert base.replaced == ["L-kkkkk"]


def test_where_most_changed_nothing_is_taken_over(project: Any) -> None:
    """Taking out more rows than stay costs more than beginning anew."""
    before = filled(project)
    for code in ("aaaaa", "bbbbb", "ccccc"):
        project.learning(code, priority=3)
    assert after(project, before) is None
