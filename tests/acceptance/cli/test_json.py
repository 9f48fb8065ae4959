"""What programs read: one envelope whatever happened, and exit codes that mean the same everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator
from tests.acceptance.cli.conftest import ANSWERS, answer

import orbit_registry
from orbit_registry.cli.main import orbit
from orbit_registry.kinds.table import load_kinds
from orbit_registry.records.envelope import ENVELOPE_SCHEMA

ENVELOPE = Draft202012Validator(json.loads(ENVELOPE_SCHEMA.read_text("utf-8")))


def commands(
    command: click.Command = orbit, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with its words, groups before what is in them."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=" ".join(("orbit", *path)))
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, (*path, name))


LEAVES = [(path, command) for path, command in commands() if not isinstance(command, click.Group)]
WITH_JSON = [path for path, command in LEAVES if any("--format" in option.opts for option in command.params)]

ASKED: dict[str, list[str]] = {
    "init": [],
    "adr add": ["--title", "Another"],
    "adr amend": ["ADR-0001", "--task", "T-2", "--text", "Also here."],
    "adr renumber": ["ADR-0001", "--dry-run"],
    "adr backfill": [],
    "adr list": [],
    "adr show": ["ADR-0001"],
    "adr search": ["sqlite"],
    "adr update": ["ADR-0001", "--title", "Use SQLite 3"],
    "adr supersede": ["ADR-0001", "--with", "ADR-0002"],
    "adr accept": ["ADR-0001"],
    "adr reject": ["ADR-0003"],
    "adr deprecate": ["ADR-0001"],
    "learning add": ["--summary", "Measure twice"],
    "learning list": [],
    "learning show": ["LEARNING"],
    "learning search": ["leap"],
    "learning update": ["LEARNING", "--priority", "9"],
    "learning supersede": ["LEARNING", "--with", "SECOND"],
    "learning migrate-layout": [],
    "learning sync": [],
    "learning promote": ["LEARNING"],
    "learning reject": ["CANDIDATE"],
    "learning retire": ["LEARNING"],
    "learning vote": ["LEARNING", "--task", "T-1"],
    "learning verify": ["LEARNING"],
    "learning prune": [],
    "rule add": ["--title", "Name each lock", "--rationale", "Deadlocks were found by their names."],
    "rule list": [],
    "rule show": ["RULE"],
    "rule search": ["leap"],
    "rule update": ["RULE", "--priority", "9"],
    "rule supersede": ["APPROVED", "--with", "SECOND_APPROVED"],
    "rule approve": ["RULE"],
    "rule reject": ["RULE"],
    "rule retire": ["APPROVED"],
    "resource list": [],
    "resource show": ["RESOURCE"],
    "resource search": ["leap"],
    "resource update": ["RESOURCE", "--title", "Another"],
    "resource promote": ["WAITING"],
    "resource reject": ["WAITING"],
    "resource retire": ["RESOURCE"],
    "link": ["ADR-0001", "amends", "ADR-0002"],
    "unlink": ["ADR-0001", "extends", "ADR-0002"],
    "related": ["ADR-0001"],
    "note": ["Uploads fail without a key", "--attempts", "2"],
    "failure add": ["--title", "S-2 failed", "--reason", "no disk", "--set", "target={type: story, id: S-2}"],
    "failure list": [],
    "failure show": ["FAILURE"],
    "failure search": ["browser"],
    "failure update": ["FAILURE", "--priority", "9"],
    "failure clear": ["FAILURE"],
    "retro list": [],
    "retro show": ["RETRO"],
    "retro search": ["browser"],
    "retro update": ["RETRO", "--title", "Another"],
    "retro promote": ["DRAFT"],
    "retro discard": ["DRAFT"],
    "pitch": [],
    "ensure": ["learning", "--key", "meeting/7", "--title", "Name each lock"],
    "proposal add": [
        "--title",
        "Say so",
        "--reason",
        "it is so",
        "--drift",
        "structural",
        "--set",
        "target={path: skills/testing/SKILL.md}",
    ],
    "proposal list": [],
    "proposal show": ["PROPOSAL"],
    "proposal search": ["leap"],
    "proposal update": ["PROPOSAL", "--priority", "9"],
    "proposal approve": ["PROPOSAL"],
    "proposal reject": ["PROPOSAL"],
    "proposal done": ["APPROVED_PROPOSAL"],
    "propose": [],
    "apply": ["APPROVED_PROPOSAL"],
    "fail": ["story:shop:S-3", "--reason", "no browser", "--attempts", "3"],
    "clear": ["story:shop:S-1"],
    "queue": [],
    "promote": ["CANDIDATE", "RULE", "--by", "Ada", "--reason", "agreed"],
    "reject": ["CANDIDATE", "RULE", "--reason", "the linter says so"],
    "stale": [],
    "verify": ["ADR-0001", "LEARNING", "--volatility", "stable"],
    "check": [],
    "site build": ["--out", "site"],
    "list": [],
    "show": ["ADR-0001"],
    "search": ["sqlite"],
    "match": ["src/app.py", "--tag", "care"],
    "explain": ["src/app.py"],
    "coverage": [],
    "scope suggest": [],
    "brief": ["--for", "prompt", "--path", "src/app.py"],
    "hook install": ["claude"],
    "hook status": [],
    "hook test": ["claude"],
    "hook uninstall": ["claude"],
    "import records": ["docs/adr", "--dry-run"],
    "import doc": ["docs/adr/0001-use-sqlite.md"],
    "import script": ["src/app.py"],
    "refresh": ["RESOURCE"],
    "run": ["RESOURCE", "--trust"],
    "sync": [],
    "query": ["SELECT id FROM records ORDER BY id"],
    "snapshot export": ["out.duckdb"],
    "baseline update": [],
    "doctor": [],
    "export rules": ["--agent", "claude"],
    "export skills": [],
    "export plugin": ["plugin"],
    "export reference": ["reference"],
    "stats": [],
    "capture": ["--from", "events"],
    "lessons list": [],
    "lessons show": ["LEARNING"],
    "lessons promote": ["CANDIDATE"],
    "lessons rm": ["LEARNING"],
    "lessons stale": [],
    "watchdog": [],
    "trust": [],
    "events tail": [],
    "events stats": [],
    "events export": ["--endpoint", "http://127.0.0.1:9"],
    "replay": [],
}


def test_every_command_with_json_is_asked_below() -> None:
    """A command that is new has to be tried here; `resolve` needs a merge under way and is tried with merges.

    What serves until it is stopped, and what passes another program's bytes through, has no output of its own.
    """
    assert {" ".join(path) for path in WITH_JSON} == {*ASKED, "resolve"}
    assert {path[-1] for path, _ in LEAVES if path not in WITH_JSON} <= {"serve", "wrap"}


def test_every_command_with_json_has_a_form_of_its_data() -> None:
    """`answers.schema.json` names each command, no other (`retro` answers without a verb too), and no form in vain."""
    forms = ANSWERS["$defs"]
    assert set(ANSWERS["commands"]) == {" ".join(path) for path in WITH_JSON} | {"retro"}
    assert all(f'"#/$defs/{name}"' in json.dumps(ANSWERS) for name in forms)
    fields = {name for kind in load_kinds() for name in kind.schema.document["properties"]}
    assert fields <= set(forms["record"]["properties"])
    assert forms["record"]["if"]["properties"]["kind"]["enum"] == [kind.name for kind in load_kinds()]


def wrong_forms(data: Any) -> Iterator[Any]:
    """Yield what no answer is: nothing, another type, and the data, or each entry of a list, with one field more."""
    yield from (None, 1, "text", {}, [{}])
    yield {**data, "made_up": 1} if isinstance(data, dict) else [{**one, "made_up": 1} for one in data] or [1]


def proposal(shell: Any, word: str) -> str:
    """Return the id of a proposal to add a learning to a skill, approved where the word says so."""
    page = shell.root / "skills/care/SKILL.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Care\n\nMind the knees.\n", "utf-8")
    found = str(shell.json("propose")[1]["data"]["proposals"][0]["id"])
    if word != "PROPOSAL":
        shell.json("promote", found)
    return found


@pytest.mark.parametrize("name", ASKED)
def test_every_output_as_json_is_one_envelope(shell: Any, name: str) -> None:
    """ok, data, diagnostics, next; the same keys for every command, and nothing else on the output."""
    words = {"LEARNING": shell.learning}
    if {"FAILURE", "story:shop:S-1"}.intersection(ASKED[name]):
        _, failed = shell.json("fail", "story:shop:S-1", "--reason", "no browser")
        words["FAILURE"] = failed["data"]["id"]
    words |= {word: proposal(shell, word) for word in {"PROPOSAL", "APPROVED_PROPOSAL"}.intersection(ASKED[name])}
    for word in {"RULE", "APPROVED", "SECOND_APPROVED"}.intersection(ASKED[name]):
        words[word] = shell.json("rule", "add", "--title", word, "--rationale", f"Because of {word}.")[1]["data"]["id"]
        if word != "RULE":
            shell.json("promote", words[word])
    if "SECOND" in ASKED[name]:
        words["SECOND"] = shell.json("learning", "add", "--summary", "Measure twice")[1]["data"]["id"]
    if "CANDIDATE" in ASKED[name]:
        words["CANDIDATE"] = shell.json("learning", "add", "--summary", "Maybe", "--pending")[1]["data"]["id"]
    for word in {"RESOURCE", "WAITING"}.intersection(ASKED[name]):
        pending = ["--pending"] if word == "WAITING" else []
        words[word] = shell.json("import", "script", "src/app.py", *pending)[1]["data"]["id"]
    for word in {"RETRO", "DRAFT"}.intersection(ASKED[name]):
        said = [
            "--loop",
            "L-1",
            "--struggled",
            "The sandbox has no browser",
            *(["--pending"] if word == "DRAFT" else []),
        ]
        words[word] = shell.json("retro", *said)[1]["data"]["retro"]["id"]
    if name == "unlink":
        shell.json("link", "ADR-0002", "extended_by", "ADR-0001")
    if name == "adr reject":
        shell.json("adr", "add", "--title", "Maybe", "--pending")
    if name in {"hook test", "hook uninstall"}:
        shell.json("hook", "install", "claude")
    if name == "site build":
        pytest.importorskip("material", reason="the site extra is not installed")

    code, whole = shell.json(*name.split(), *(words.get(word, word) for word in ASKED[name]))

    assert (code, whole["ok"]) == (0, True)
    assert whole["data"] is not None
    assert "error" not in whole
    if name != "query":  # its columns are those that were asked for
        assert not any(answer(name).is_valid(wrong) for wrong in wrong_forms(whole["data"]))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["show", "ADR-0042"], 1, "no record has the id 'ADR-0042'"),
        (["adr", "show", "ADR-006"], 1, "means 2 records"),
        (["adr", "accept", "ADR-0042"], 1, "no record"),
        (["adr", "reject", "ADR-0001"], 1, "can't become rejected"),
        (["adr", "add"], 2, "--title"),
        (["adr", "add", "--title", "  "], 2, "needs a title"),
        (["adr", "add", "--title", "X", "--status", "superseded"], 2, "--status"),
        (["adr", "add", "--title", "X", "--pending", "--status", "accepted"], 2, "contradict"),
        (["adr", "amend", "ADR-0001", "--task", "T"], 2, "--text or --body-file"),
        (["learning", "add", "--summary", "x" * 281], 1, "281 characters"),
        (["learning", "add", "--summary", "X", "--set", "colour=red"], 1, "unknown field `colour`"),
        (["learning", "add", "--summary", "X", "--set", "status=active"], 2, "can't be set by hand"),
        (["learning", "add", "--summary", "X", "--evidence", "T-1"], 2, "is not KIND:REF"),
        (["learning", "update", "L-nnnnn", "--priority", "x"], 2, "--priority"),
        (["list", "decision"], 2, "known kinds: adr, "),
        (["query", "DROP TABLE records"], 1, ""),
        (["query", "SELEC 1"], 1, ""),
        (["import", "nowhere"], 2, "nowhere"),
        (["check", "--against", "nowhere"], 2, "nowhere"),
        (["nonsense"], 2, "nonsense"),
        (["adr", "nonsense"], 2, "nonsense"),
        (["adr", "add", "--title", "X", "--body-file", "missing.md"], 1, "missing.md"),
    ],
)
def test_an_error_as_json_is_an_envelope_too(shell: Any, arguments: list[str], code: int, words: str) -> None:
    """ok is false, error says why, hint what to do; 1 is a refusal, 2 a wrong call."""
    ended, whole = shell.json(*arguments)

    assert ended == code
    assert whole["ok"] is False
    assert words in whole["error"] + (whole["hint"] or "")
    assert whole["data"] is None


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["show", "L-0000000"], "Look before you leap"),
        (["learning", "vote", "sqlite", "--task", "T-1"], "ADR-0001 (Use SQLite)"),
        (["link", "ADR-0001", "amend", "ADR-0002"], "amends"),
        (["list", "learnings"], "learning"),
        (["lerning", "list"], "learning"),
        (["site", "buld"], "build"),
        (["learning", "add", "--summary", "X", "--set", "categry=a"], "`category`"),
        (["learning", "list", "--tag", "cares"], "`care`"),
        (["match", "--tag", "cares"], "`care`"),
        (["search", "leap", "--tag", "cares"], "`care`"),
    ],
)
def test_a_name_that_is_not_there_leads_to_the_nearest(shell: Any, arguments: list[str], near: str) -> None:
    """Ids, relations, kinds, commands, fields and tags; what a filter asks for in vain is a note beside the output."""
    _, _, said = shell(*arguments)

    meant = said.lower().partition("did you mean ")[2].partition("?")[0]
    assert near.lower() in meant


@pytest.mark.parametrize(
    "arguments",
    [
        ["learning", "add", "--summary", "half \udcff"],
        ["adr", "add", "--title", "half \udcff"],
        ["query", "SELECT '\udcff'"],
        ["show", "\udcff"],
        ["-C", "\udcff", "list"],
    ],
)
def test_an_argument_that_is_no_text_is_refused(shell: Any, arguments: list[str]) -> None:
    """Bytes that are not UTF-8 are said to be, whatever the command."""
    code, whole = shell.json(*arguments)

    assert code == 2
    assert "is not valid UTF-8" in whole["error"]


@pytest.mark.parametrize("arguments", [["show", "ADR-0042"], ["adr", "add"], ["list", "decision"]])
def test_an_error_as_text_goes_to_the_side(shell: Any, arguments: list[str]) -> None:
    """The output stays empty, so that a pipe gets nothing it could take for data."""
    code, out, err = shell(*arguments)

    assert code in (1, 2)
    assert out == ""
    assert "rror" in err
    assert "Traceback" not in err


def test_findings_end_with_one(shell: Any) -> None:
    """`check` exits 1 for an error, 0 for a note; its envelope is ok only when clean."""
    assert shell.json("check")[0] == 0
    file = shell.root / ".orbit/adrs/ADR-0001/adr.yaml"
    file.write_text(file.read_text("utf-8") + "colour: red\n", "utf-8")

    code, whole = shell.json("check")

    assert (code, whole["ok"]) == (1, False)
    assert [one["code"] for one in whole["diagnostics"] if one["severity"] == "error"] == ["ORB104"]


def test_our_own_failure_ends_with_three(shell: Any, tmp_path: Path) -> None:
    """A bug is said to be one, with what is needed to report it: here a half-installed package."""
    package = Path(shutil.copytree(Path(orbit_registry.__file__).parent, tmp_path / "lib/orbit_registry"))
    (package / "store/reader.py").write_text("def nothing() -> None: ...\n", "utf-8")

    for arguments in (["list"], ["list", "--format", "json"]):
        done = subprocess.run(
            [sys.executable, "-m", "orbit_registry.cli.main", *arguments],
            env={**os.environ, "PYTHONPATH": str(tmp_path / "lib")},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 3
        assert "this is a bug, please report it" in done.stderr
        assert "ImportError" in done.stderr
        if "json" in arguments:
            assert list(ENVELOPE.iter_errors(json.loads(done.stdout))) == []
