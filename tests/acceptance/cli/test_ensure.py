"""`orbit ensure`."""

from dataclasses import replace
from typing import Any

from orbit_registry.model.record import Record
from orbit_registry.registry import Registry
from orbit_registry.retro.ensure import EnsureRequest, ensure


def test_a_concurrent_decision_is_written_once(shell: Any) -> None:
    registry = Registry.open(shell.root)
    author, workspace = registry.author(), registry.workspace
    learning = EnsureRequest("learning", "meeting/7/1", {"summary": "Name each lock"})
    decision = EnsureRequest("adr", "meeting/7/2", {"title": "Use one queue"})
    message = ensure(workspace, [learning, decision], author)
    assert message[1].record is not None
    folder, record_id = workspace.root / message[1].record.folder, message[1].record.id
    away = folder.rename(shell.root / "away")

    def meanwhile(_: Record) -> EnsureRequest:
        away.rename(folder)
        return learning

    again = ensure(workspace, [replace(learning, join=meanwhile), decision], author)

    assert [(entry.outcome, entry.reason) for entry in again] == [
        ("unchanged", ""),
        ("refused", f"{record_id} says meeting/7/2 since just now; `orbit show {record_id}`"),
    ]
    assert [entry.id for entry in registry.collection.records if entry.text("key") == "meeting/7/2"] == [record_id]


def test_a_broken_cache_stops_no_producer(shell: Any) -> None:
    shell("sync")
    cache = shell.root / ".orbit/state/cache"
    for file in cache.rglob("*"):
        if file.is_file():
            file.write_bytes(b"\x00garbage")
    assert shell("ensure", "learning", "--key", "d/1", "--title", "Name each lock")[0] == 0
    for file in sorted(cache.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    cache.rmdir()
    cache.write_text("no folder", "utf-8")
    assert shell("ensure", "learning", "--key", "d/2", "--title", "Close what you open")[0] == 0
    assert shell("retro", "--loop", "L-1", "--worked", "A plan of one page was read by all")[0] == 0
