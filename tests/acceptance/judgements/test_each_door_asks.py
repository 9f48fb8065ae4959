"""Each command asks the judgement: where one is turned into its opposite, all answers change.

A mechanism of some command that decides the same beside the judgement would not notice.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import orbit
from tests.acceptance.hook.conftest import PATIENT, bring_up_to_date
from tests.conftest import Git
from tests.files import commit, make_workspace, write, write_learning, write_record

from orbit_registry.doors.answers.call import Caller
from orbit_registry.doors.mcp.dispatch import reply
from orbit_registry.judgements.contradicts import Contrast, Position, contradicts, position_of
from orbit_registry.judgements.is_duplicate import Likeness, is_duplicate
from orbit_registry.judgements.is_moment import is_moment
from orbit_registry.judgements.same_decision import same_decision
from orbit_registry.judgements.status_evidence import StatusEvidence, status_evidence
from orbit_registry.registry import Registry
from orbit_registry.site.build import build_site

Door = Callable[[Path], str]
Build = Callable[[Path], None]
UPLOADS = "Retry failed uploads to the shop"
DECISION = "# {title}\n\n## Status\n\n{status}\n\n## Context\n\nc\n\n## Decision\n\nWe do.\n"


def command(*words: str, code: int | None = None) -> Door:
    """Return a door that runs a command; any code is an answer unless one is named."""

    def door(root: Path) -> str:
        try:
            return orbit(root, *words, code=0 if code is None else code)
        except AssertionError as error:
            if code is not None:
                raise
            return str(error)

    return door


def add(summary: str) -> Door:
    def door(root: Path) -> str:
        arguments = {"kind": "learning", "fields": {"summary": summary}}
        caller = Caller("some-agent", "s", hosted=False)
        return reply("add", arguments, caller, partial(Registry.open, root)).text

    return door


def site(root: Path) -> str:
    folder = root.with_name("site")
    build_site(Registry.open(root), folder, snapshot=False)
    return (folder / "llms.txt").read_text("utf-8")


def rules(root: Path) -> str:
    orbit(root, "export", "rules", "--agent", "agents-md")
    return (root / "AGENTS.md").read_text("utf-8")


def hook(root: Path, **fields: object) -> str:
    """Return what the hook says after the judgements of this test were turned in its process."""
    bring_up_to_date(root)
    payload = {"cwd": str(root), "session_id": "s", **fields}
    done = subprocess.run(
        [sys.executable, "-c", HOOK, json.dumps(TURNED_IN_HOOK)],
        input=json.dumps(payload).encode(),
        capture_output=True,
        cwd=root,
        env={**PATIENT, "CLAUDE_PROJECT_DIR": str(root), "HOME": str(root)},
        check=False,
    )
    return (done.stdout + done.stderr).decode()


TURNED_IN_HOOK: list[list[str]] = []
HOOK = """
import importlib
import json
import sys

for name, function in json.loads(sys.argv[1]):
    module = importlib.import_module(name)
    original = getattr(module, function)
    turned = lambda *arguments, original=original: not original(*arguments)
    setattr(module, function, turned)

from orbit_registry.hook.client import main

main(["claude"])
"""


def prompt(text: str) -> Door:
    return partial(hook, hook_event_name="UserPromptSubmit", prompt=text)


def edit(path: str, content: str) -> Door:
    def door(root: Path) -> str:
        tool_input = {"file_path": f"{root}/{path}", "content": content}
        fields = {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": tool_input}
        return hook(root, **fields)

    return door


def install(words: str) -> Door:
    fields = {"tool_name": "Bash", "tool_input": {"command": words}}
    return partial(hook, hook_event_name="PreToolUse", **fields)


def fleet(root: Path) -> str:
    lake = root.with_name("lake")
    for name in ("Use tabs over spaces", "Use spaces over tabs"):
        member = root.with_name(name.split()[1])
        # Two clones of one repository are counted once.
        shutil.copytree(root, member, ignore=shutil.ignore_patterns(".git"))
        subprocess.run(["git", "init", "-q"], cwd=member, check=True)
        write_record(member, ".orbit/adrs/ADR-0009/adr.yaml", title=name, status="accepted")
        commit(member)
        orbit(member, "fleet", "push", str(lake), "--repository", f"acme/{member.name}")

    return orbit(root, "fleet", "report", "contradictions", "--lake", str(lake))


# ---------------------------------------------------------------------------------- what is asked


def opposites(root: Path) -> None:
    write_learning(root, "aaaaa", summary=UPLOADS)
    head = "---\nname: uploads\ndescription: Uploads.\n---\n\n# Uploads\n"
    write(root, "skills/uploads/SKILL.md", f"{head}\n- Do not retry failed uploads to the shop\n")
    commit(root)
    write_learning(root, "bbbbb", summary="Do not retry failed uploads to the shop")


def duplicates(root: Path) -> None:
    write_learning(root, "aaaaa", summary=UPLOADS)
    commit(root)
    write_learning(root, "bbbbb", summary=UPLOADS, body="Seen in March.")


def replaced(root: Path) -> None:
    paths = {"scope": {"paths": ["src/a.py"]}}
    fields = {"status": "accepted", "title": "Use zebra", **paths}
    write_record(root, ".orbit/adrs/ADR-0001/adr.yaml", **fields)
    fields = {"status": "accepted", "title": "Use giraffe", "supersedes": ["ADR-0001"], **paths}
    write_record(root, ".orbit/adrs/ADR-0002/adr.yaml", **fields)
    write(root, "src/a.py", "x = 1\n")
    commit(root)


def unclear(root: Path) -> None:
    write(root, "docs/adr/0001-a.md", DECISION.format(title="Use a", status="Expired"))
    write(root, "docs/adr/0002-b.md", DECISION.format(title="Use b", status="Returned for work"))
    commit(root)


def adopted(root: Path) -> None:
    unclear(root)
    orbit(root, "import", "docs/adr")


def moments(root: Path) -> None:
    write_learning(root, "aaaaa", summary=UPLOADS)
    vote = {"learning_id": "L-aaaaa", "voter_model": "m", "task_id": "T"}
    line = json.dumps({**vote, "voted_at": "2026-05-01T00:00:00Z"})
    write(root, ".orbit/learnings/L-aaaaa/votes.jsonl", f"{line}\n")
    commit(root)


def numbered(root: Path) -> None:
    text = "title: 'Build a shed'\nstatus: accepted\ncreated_at: 2026-05-01T09:00:00Z\n"
    write(root, ".orbit/adrs/accepted/ADR-0005/adr.yaml", f"id: ADR-0005\n{text}")
    write(root, ".orbit/adrs/accepted/ADR-0005/body.md", "Wood is cheap.\n")
    log = "# Decisions\n\n## ADR-0005 — Keep a queue\n\n**Status:** Accepted\n\nIt waits.\n"
    write(root, "docs/design/shop/4_decisions.md", log)
    commit(root)


def imported(root: Path) -> str:
    orbit(root, "import", ".", "--from", "orbit")
    return str(Registry.open(root).get("ADR-0005").data.get("source"))


def procedural(root: Path) -> None:
    fields = {"procedural": True, "scope": {"tags": ["upload"]}}
    write_learning(root, "aaaaa", summary="Write the unit tests with pytest fixtures", **fields)
    commit(root)


def ruled_out(root: Path) -> None:
    options = "## Considered Options\n\n- PostgreSQL\n- Celery\n\nChosen option: PostgreSQL\n"
    text = DECISION.format(title="Keep the queue in PostgreSQL", status="Accepted")
    write(root, "docs/adr/0001-a.md", f"{text}\n{options}")
    orbit(root, "import", "docs/adr")
    commit(root)
    subprocess.run(["git", "branch", "base"], cwd=root, check=True)
    write(root, "src/work.py", "from celery import Celery\n")
    commit(root)


# ------------------------------------------------------------------------------------- opposites


def turned_contrast(first: str, second: str) -> Contrast | None:
    is_opposite = contradicts(first, second) is not None
    return None if is_opposite else Contrast(("x",), ("y",), alone=True)


def turned_position(sentence: str) -> Position:
    return replace(position_of(sentence), side=())


def turned_likeness(*arguments: Any) -> Likeness:
    is_alike = bool(is_duplicate(*arguments).level)
    return Likeness("") if is_alike else Likeness("error", "headline", 1.0)


def turned_evidence(status: str, words: str, syntax: str = "") -> StatusEvidence:
    is_silent = status_evidence(status, words, syntax).is_silent
    return StatusEvidence("not understood", "x") if is_silent else StatusEvidence("not stated")


def negated(function: Callable[..., bool]) -> Callable[..., bool]:
    return lambda *arguments: not function(*arguments)


CHECK = command("check", "--all", "--format", "json")
NEW = ("learning", "new", "--dry-run", "--format", "json")
RETRO = (
    *("retro", "--loop", "L-9", "--project", "shop"),
    *("--outcome", "story:shop:S-4=requeued,attempts=2,tool=codex", "--struggled"),
)
Case = tuple[str, str, object, Build, Mapping[str, Door]]
CASES: list[Case] = [
    (
        "judgements.contradicts",
        "contradicts",
        turned_contrast,
        opposites,
        {
            "check": CHECK,
            "new": command(*NEW, "Never retry failed uploads to the shop"),
            "add": add("Never retry failed uploads to the shop"),
            "propose": command("propose", "--dry-run"),
            "consolidate": command("propose", "--consolidate", "--dry-run"),
            "retro": command(*RETRO, "Never retry any failed uploads to the shop"),
        },
    ),
    ("judgements.contradicts", "position_of", turned_position, moments, {"fleet": fleet}),
    (
        "judgements.is_duplicate",
        "is_duplicate",
        turned_likeness,
        duplicates,
        {
            "check": CHECK,
            "against": command("check", "--against", "HEAD", "--format", "json"),
            "new": command(*NEW, UPLOADS),
            "add": add(UPLOADS),
            "note": command("note", UPLOADS, "--attempts", "3", "--errors"),
        },
    ),
    (
        "judgements.in_force",
        "read_together",
        list,
        replaced,
        {
            "list": command("list"),
            "match": command("match", "src/a.py"),
            "explain": command("explain", "src/a.py"),
            "show": command("show", "ADR-0001"),
            "search": command("search", "zebra"),
            "brief": command("brief", "--path", "src/a.py"),
            "snapshot": command("query", "SELECT id, phase FROM records ORDER BY id"),
            "rules": rules,
            "site": site,
            "hook": edit("src/a.py", "y = 1\n"),
        },
    ),
    (
        "judgements.status_evidence",
        "status_evidence",
        turned_evidence,
        unclear,
        {"import": command("import", "docs/adr", "--verbose")},
    ),
    (
        "judgements.status_evidence",
        "status_evidence",
        turned_evidence,
        adopted,
        {
            "show": command("show", "ADR-0001"),
            "review": command("review"),
            "accept": command("adr", "accept", "--status", "unknown", "--dry-run"),
        },
    ),
    (
        "judgements.is_moment",
        "is_moment",
        negated(is_moment),
        moments,
        {
            "check": CHECK,
            "list": command("list"),
            "show": command("show", "L-aaaaa"),
            "snapshot": command("query", "SELECT id FROM records"),
            "votes": command("query", "SELECT task_id FROM votes"),
            "verify": command("verify", "L-aaaaa", "--expires", "2030-01-31T00:00:00Z"),
        },
    ),
    (
        "judgements.same_decision",
        "same_decision",
        negated(same_decision),
        numbered,
        {"import": imported},
    ),
    (
        "hook.task_class",
        "is_work_on_code",
        None,
        procedural,
        {
            "brief": command("brief", "Write a unit test for the upload with fixtures"),
            "prompt": prompt("Write a unit test for the upload with pytest fixtures"),
        },
    ),
    (
        "hook.rejected_options",
        "is_meant",
        None,
        ruled_out,
        {
            "against": command("check", "--against", "base", "--format", "json"),
            "diff": command("diff", "base"),
            "edit": edit("src/new.py", "import celery\n"),
            "install": install("pip install celery"),
            "prompt": prompt("Let us use Celery for the queue"),
        },
    ),
]
DOORS = [
    pytest.param(*case[:4], door, id=f"{case[1]}-{name}")
    for case in CASES
    for name, door in case[4].items()
]


def turn(monkeypatch: pytest.MonkeyPatch, module: str, name: str, instead: object) -> None:
    """Replace a function in each module that has it."""
    dotted = f"orbit_registry.{module}"
    original = getattr(import_module(dotted), name)
    replacement = negated(original) if instead is None else instead
    for other in [*sys.modules.values()]:
        is_ours = other.__name__.startswith("orbit_")
        if is_ours and getattr(other, name, None) is original:
            monkeypatch.setattr(other, name, replacement)

    if module.startswith("hook."):
        monkeypatch.setattr(sys.modules[__name__], "TURNED_IN_HOOK", [[dotted, name]])


@pytest.mark.parametrize(("module", "name", "instead", "build", "door"), DOORS)
def test_a_turned_judgement_turns_the_answer(
    tmp_path: Path,
    git: Git,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    name: str,
    instead: object,
    build: Build,
    door: Door,
) -> None:
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    root = tmp_path / "first" / "repo"
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    build(make_workspace(root))
    roots = [root]
    for folder in ("again", "later"):
        roots.append(tmp_path / folder / "repo")
        shutil.copytree(root, roots[-1], symlinks=True)

    before, again = (plain(door(copy), copy) for copy in roots[:2])
    assert before == again

    turn(monkeypatch, module, name, instead)
    after = plain(door(roots[2]), roots[2])
    assert "this is a bug" not in after
    assert after != before


def plain(answer: str, root: Path) -> str:
    """Return an answer without what differs from run to run: places, times and new ids."""
    answer = answer.replace(str(root), "ROOT")
    answer = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ s\b", "TIME", answer)
    answer = re.sub(r"\b[0-9a-f]{32}\b", "UID", answer)
    return re.sub(r"\b[A-Z]{1,2}-(?!aaaaa|bbbbb)[0-9a-z]{5}\b", "ID", answer)
