"""Eight processes add, edit, close, replace, vote and sync at once and are killed at random:
nothing said is lost.

Each child writes down what it was told had happened, after it was told. When all are done or dead,
every line of that must be true of the files, and what is derived must be what a rebuild gives.
"""

import json
import os
import random
import select
import shutil
import signal
import subprocess
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

import pytest
from tests.files import write

from orbit_registry.model.record import Record
from orbit_registry.operations.adr import NewAdr
from orbit_registry.registry import Registry
from orbit_registry.repository.reader import read_collection
from orbit_registry.workspace.workspace import open_workspace

PROCESSES = 8
OPERATIONS = 16
SHARED = 6
"""Learnings that all processes vote for and edit."""


@pytest.fixture
def repo(git_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(git_repo)
    Registry.init(git_repo)
    registry = Registry.open(git_repo)
    for number in range(SHARED):
        registry.add(
            "learning",
            {"summary": f"Shared {number}", "scope": {"paths": [f"src/part{number}/**"]}},
        )
    write(git_repo, "src/app.py", "x = 1\n")
    for arguments in (["add", "-A"], ["commit", "-qm", "Start"]):
        subprocess.run(["git", *arguments], cwd=git_repo, check=True)
    return git_repo


class Worker:
    """One process: chooses what to do by its own chance, and says what was done."""

    def __init__(self, root: Path, number: int, out: TextIO) -> None:
        self.registry = Registry.open(root)
        self.number, self.out = number, out
        self.chance = random.Random(number)
        self.shared = [
            record.id
            for record in self.registry.collection.records
            if record.title.startswith("Shared")
        ]
        self.own: list[str] = []

    def run(self) -> None:
        self.add(0)
        for step in range(1, OPERATIONS):
            name = self.chance.choice(
                (
                    "add",
                    "edit",
                    "edit_own",
                    "vote",
                    "vote",
                    "vote",
                    "retire",
                    "supersede",
                    "delete",
                    "adr",
                    "sync",
                )
            )
            work: Callable[[int], None] = getattr(self, name)
            work(step)

    def say(self, what: str, **facts: str) -> None:
        """Write down what happened, whole lines only."""
        self.out.write(json.dumps({"what": what, **facts}) + "\n")

    def add(self, step: int) -> None:
        summary = f"Process {self.number} step {step}"
        record = self.registry.add(
            "learning", {"summary": summary, "scope": {"paths": [f"src/p{self.number}/**"]}}
        )
        self.own.append(record.id)
        self.say("record", id=record.id, title=summary)

    def adr(self, step: int) -> None:
        title = f"Decision {self.number} {step}"
        record = self.registry.add_adr(
            NewAdr(title, feature="f", style="log", body="### Decision\n\nYes.")
        ).record
        self.say("record", id=record.id, title=title)

    def edit(self, step: int) -> None:
        record_id, label = self.chance.choice(self.shared), f"p{self.number}-{step}"
        self.registry.update(record_id, lambda data: {**data, "labels": [*_labels(data), label]})
        self.say("label", id=record_id, label=label)

    def edit_own(self, step: int) -> None:
        self.registry.update(self.own[-1], lambda data: {**data, "priority": step})
        self.say("priority", id=self.own[-1], value=str(step))

    def vote(self, step: int) -> None:
        record_id, task = self.chance.choice(self.shared), f"T-{self.number}-{step}"
        self.registry.vote(record_id, task, "m")
        self.say("vote", id=record_id, task=task)

    def retire(self, step: int) -> None:
        self.say("try", id=self.own[0])
        self.registry.transition(self.own[0], "retired")
        self.say("closed", id=self.own.pop(0))
        self.add(step)

    def supersede(self, step: int) -> None:
        old = self.own.pop()
        self.add(step)
        self.registry.supersede(old, self.own[-1])
        self.say("superseded", id=old, by=self.own[-1])

    def delete(self, step: int) -> None:
        self.add(step)
        doomed = self.own.pop()
        self.say("delete", id=doomed)
        folder = self.registry.workspace.root / ".orbit/learnings" / doomed
        folder.rename(self.registry.workspace.root.parent / f"removed-{doomed}")
        self.say("deleted", id=doomed)

    def sync(self, step: int) -> None:
        self.registry.sync()
        self.registry.match([f"src/p{self.number}/x.py"])


def _labels(data: Mapping[str, object]) -> list[object]:
    labels = data.get("labels")
    return labels if isinstance(labels, list) else []


def start(root: Path, number: int, log: Path) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.chdir(root)
        with log.open("w", encoding="utf-8", buffering=1) as out:
            Worker(root, number, out).run()
        status = 0
    finally:
        if status:  # nobody else is told
            log.with_suffix(".error").write_text(traceback.format_exc(), "utf-8")
        os._exit(status)


def test_nothing_acknowledged_is_lost(repo: Path, tmp_path: Path) -> None:
    chance = random.Random(1)
    logs = [tmp_path / f"log-{number}" for number in range(PROCESSES)]
    children = {number: start(repo, number, logs[number]) for number in range(PROCESSES)}
    doomed = {
        number: chance.randint(3, OPERATIONS)
        for number in chance.sample(range(PROCESSES), PROCESSES // 2)
    }
    waiting = dict(children)
    while waiting:
        for number, child in list(waiting.items()):
            lines = logs[number].read_text("utf-8").count("\n") if logs[number].exists() else 0
            if number in doomed and lines >= doomed[number]:
                os.kill(child, signal.SIGKILL)
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                del waiting[number]
                killed = os.WIFSIGNALED(status)
                assert killed or status == 0, logs[number].with_suffix(".error").read_text("utf-8")
        select.select([], [], [], 0.02)  # the children need the processor

    registry = Registry.open(repo)
    registry.recover()
    collection = read_collection(open_workspace(repo))
    assert collection.problems == ()
    by_id = {record.id: record for record in collection.records}
    for log in logs:
        facts = [json.loads(line) for line in log.read_text("utf-8").split("\n")[:-1]]
        check_log(facts, by_id)
    assert [
        str(diagnostic)
        for diagnostic in registry.check().diagnostics
        if diagnostic.code.startswith(("ORB1", "ORB2", "ORB3", "ORB7"))
    ] == []
    same_as_a_rebuild(repo)


def check_log(facts: list[dict[str, str]], by_id: Mapping[str, Record]) -> None:
    latest: dict[str, str] = {}
    deleted = {fact["id"] for fact in facts if fact["what"] == "deleted"}
    assert deleted.isdisjoint(by_id)
    delete_requests = {fact["id"] for fact in facts if fact["what"] == "delete"}
    for fact in facts:
        if fact["id"] in delete_requests and fact["id"] not in by_id:
            continue
        record = by_id[fact["id"]]
        match fact["what"]:
            case "record":
                assert record.title == fact["title"]
            case "label":
                assert fact["label"] in record.words("labels")
            case "vote":
                assert any(vote.task_id == fact["task"] for vote in record.votes)
            case "priority":
                latest[fact["id"]] = fact["value"]
            case "closed":
                assert record.status.name == "retired"
            case "superseded":
                assert record.superseded_by == (fact["by"],)
                assert by_id[fact["by"]].supersedes == (fact["id"],)
    for record_id, value in latest.items():
        if record_id not in by_id:
            continue
        # The next edit may have been written and its writer killed before it could say so: later,
        # never earlier.
        assert int(str(by_id[record_id].data["priority"])) >= int(value)


def same_as_a_rebuild(repo: Path) -> None:
    registry = Registry.open(repo)
    synced = registry.sync()
    paths = [f"src/p{number}/x.py" for number in range(PROCESSES)] + [
        f"src/part{number}/y" for number in range(SHARED)
    ]
    matched = [match.as_data() for match in registry.match(paths)]
    shutil.rmtree(repo / ".orbit/state")
    fresh = Registry.open(repo)
    assert fresh.sync().digest == synced.digest
    assert [match.as_data() for match in fresh.match(paths)] == matched
