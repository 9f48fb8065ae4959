"""Records at the command line: found by any name, narrowed, fed from files and pipes, and decided by people."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def test_a_legacy_id_finds_its_record(shell: Any) -> None:
    assert [row["id"] for row in shell.data("adr", "list", "--legacy-id=project-learnings/ADR-006")] == ["ADR-0001"]
    assert shell.data("show", "project-learnings/ADR-006")["id"] == "ADR-0001"
    assert shell.data("adr", "show", "site/ADR-006")["id"] == "ADR-0002"
    assert shell.data("adr", "list", "--legacy-id=nobody/ADR-006") == []

    code, _, err = shell("show", "ADR-006")

    assert code == 1
    for words in ("ADR-0001  Use SQLite", "ADR-0002  Use Postgres instead", "name one by its own id"):
        assert words in err


def test_lists_are_narrowed_by_fields(shell: Any) -> None:
    shell(*shlex.split("adr add --title Third --feature f --task T-7 --tag db --label big --pending"))

    def ids(*arguments: str) -> list[str]:
        return [row["id"] for row in shell.data("adr", "list", *arguments)]

    for narrowed in ("--feature f", "--task T-7", "--tag db", "--label big", "--status proposed"):
        assert ids(*narrowed.split()) == ["ADR-0003"]
    assert ids("--limit", "1") == ["ADR-0001"]
    assert ids("--tag", "db", "--limit", "1") == ["ADR-0003"]
    assert ids("--tag", "nothing") == []
    assert "no records" in shell("adr", "list", "--tag", "nothing")[1]


def test_a_body_comes_from_a_file_or_the_standard_input(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (shell.root / "body.md").write_text("From a file.\n", "utf-8")
    record = shell.data("learning", "add", "--summary", "Leap", "--body-file", "body.md")
    assert record["body"] == "From a file.\n"
    assert "Why." in shell("show", "ADR-0002")[1]

    done = subprocess.run(
        [sys.executable, "-m", "orbit_registry.cli.main", "learning", "update", record["id"], "--body-file", "-"],
        input=b"Piped \xe2\x9c\x93\n", capture_output=True, check=True,
    )  # fmt: skip

    assert done.returncode == 0
    assert shell.data("show", record["id"])["body"] == "Piped ✓\n"

    (shell.root / "body.md").write_bytes(b"\xff\xfe")
    code, _, err = shell("learning", "add", "--summary", "X", "--body-file", "body.md")
    assert code in (1, 2)
    assert "UTF-8" in err
    assert len(shell.data("list", "learning")) == 2


def test_lists_are_narrowed_by_phase_and_put_in_order(shell: Any) -> None:
    second = shell.data("learning", "add", "--summary", "Measure twice, cut once")["id"]
    closed = shell.data("learning", "add", "--summary", "Trust every clock")["id"]
    shell("learning", "retire", closed)
    file = shell.root / f".orbit/learnings/{second}/learning.yaml"
    text = re.sub("updated_at: .*", "updated_at: '2020-01-01T00:00:00Z'", file.read_text("utf-8"))
    file.write_text(text, "utf-8")
    shell("learning", "vote", second, "--task", "T-1")

    def ids(*arguments: str) -> list[str]:
        return [row["id"] for row in shell.data("learning", "list", *arguments)]

    assert ids("--phase", "closed") == [closed]
    assert ids("--phase", "live", "--phase", "closed") == ids("--all")
    assert set(ids("--all")) == {shell.learning, second, closed}
    assert set(ids()) == {shell.learning, second}
    assert ids("--status", "retired") == [closed]
    assert ids("--sort", "votes", "--phase", "live") == [second, shell.learning]
    assert ids("--sort", "updated", "--phase", "live") == [shell.learning, second]
    assert ids("--sort", "votes", "--limit", "1") == [second]


def test_a_fix_can_follow_the_document(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shell.data("adr", "add", "--title", "Leap", "--body-file", shell.body)["source"]["path"]
    file = shell.root / path
    file.write_text(
        file.read_text("utf-8").replace("— Leap", "— Look, then leap").replace("Accepted", "Deprecated"), "utf-8"
    )

    code, _, err = shell("check", "--from", "document")
    assert (code, "orbit check --fix --from document" in err) == (2, True)
    with monkeypatch.context() as agent:
        agent.setenv("ORBIT_ACTOR", "agent")
        assert "a person runs `orbit check --fix`" in shell("check", "--fix", "--from", "document")[1]
    assert shell("check", "--fix", "--from", "document")[0] == 0

    [result] = [entry for entry in shell.data("adr", "list", "--all") if entry["title"] == "Look, then leap"]
    assert result["status"] == "deprecated"
    assert "Look, then leap" in file.read_text("utf-8")


def test_a_reader_that_leaves_early_is_no_error(shell: Any) -> None:
    program = [sys.executable, "-m", "orbit_registry.cli.main", "list"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(program, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)

    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only a device that is always full refuses output")
def test_output_that_a_full_disk_refuses_is_no_bug(shell: Any) -> None:
    program = [sys.executable, "-m", "orbit_registry.cli.main"]
    for words in (["list"], ["learning", "add", "--summary", "Printed nowhere", "--yes"]):
        with Path("/dev/full").open("w", encoding="utf-8") as full:
            done = subprocess.run([*program, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, "can't be written" in done.stderr, "Traceback" in done.stderr) == (1, True, False)
    assert "Printed nowhere" in shell("list")[1]


def test_an_answer_names_the_check_of_unreadable_files(shell: Any) -> None:
    foreign = shell.root / ".orbit/resources/executors/shell.yaml"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("run: sh\n", "utf-8")
    assert shell("list")[2] == ""

    (shell.root / f".orbit/learnings/{shell.learning}/learning.yaml").write_text("summary: [", "utf-8")
    start = f"1 record could not be read: .orbit/learnings/{shell.learning}/learning.yaml: not valid YAML: "
    for command in (["list"], ["query", "SELECT 1"], ["brief", "src/app.py"], ["match", "src/app.py"], ["sync"]):
        message = shell(*command)[2]
        assert message.startswith(start)
        assert message.endswith("; run `orbit check`\n")

    shell("baseline", "update")
    assert shell("list")[2].endswith("; run `orbit check --all`\n")
