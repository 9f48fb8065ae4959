"""Every command's whole output, and every agent's replies, held against files that a person has
read.

`ORBIT_UPDATE_GOLDEN=1` writes those files anew; `git diff` then shows what changed.
"""

import difflib
import importlib.metadata
import json
import os
import platform
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from tests.acceptance.cli.conftest import ANSWERS, ENVELOPE, answer
from tests.acceptance.cli.test_json import WITH_JSON
from tests.acceptance.hook.conftest import run_client
from tests.acceptance.site_cases import copied, with_every_kind

import orbit_registry
from orbit_registry.doors.cli.main import run
from orbit_registry.doors.doctor.examine import LIBRARIES

HERE = Path(__file__).parent
UPDATE = "ORBIT_UPDATE_GOLDEN" in os.environ  # read before the tests put such variables away
CASES = HERE.parent / "cases"
PACKAGES = ("orbit-registry", *LIBRARIES)
NAMED_VERSION = re.compile(rf"\b(Python|{'|'.join(PACKAGES)}) \d+\.\d[\w.+-]*")
MATCHERS = ("ast-grep-py", "google-re2")
"""Packages whose version is part of the digest of a check that a record states."""
OTHER_VERSION = "97.1.2rc3"

Walk = Callable[[str, str], dict[str, str]]

COMMITTED = {
    "GIT_AUTHOR_DATE": "2026-06-10T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-06-10T00:00:00Z",
}


def command_lines(project: str) -> list[str]:
    return [
        line
        for line in (HERE / f"{project}.txt").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]


def make_project(name: str, root: Path) -> None:
    """Make a project and commit it: `demo` is that of the site's tests, with a few more files."""
    if name == "demo":
        with_every_kind(copied("demo", root))
    shutil.copytree(CASES / "golden" / name, root, dirs_exist_ok=True)
    shutil.copytree(root / "dot_orbit", root / ".orbit", dirs_exist_ok=True)
    shutil.rmtree(root / "dot_orbit")
    (root / ".gitignore").write_text("/site/\n.orbit/state/\n", "utf-8")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Start"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, env={**os.environ, **COMMITTED})


def normalised(text: str, root: Path) -> str:
    """Return a text without what differs from run to run:
    folders, the day, digests, durations, versions.
    """
    package, home = str(Path(orbit_registry.__file__).parent), os.environ["HOME"]
    for path, word in (
        (str(root), "ROOT"),
        (sys.executable, "PYTHON"),
        (package, "PACKAGE"),
        (home, "HOME"),
    ):
        text = text.replace(path, word)
    now = datetime.now(UTC)
    for day in (now, now - timedelta(days=1)):  # a walk may begin before midnight
        text = re.sub(
            rf"{day:%Y-%m-%d}(T[\d:.]+(Z|\+00:00))?",
            lambda match: "NOW" if match[1] else "TODAY",
            text,
        )
    text = re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC|20\d\d-\d\d-\d\dT[\d:]+\.\d+Z", "WHEN", text)
    text = re.sub(r"\b[0-9a-f]{16,64}\b|(?<=digest )[0-9a-f]{12}\b", "DIGEST", text)
    text = re.sub(
        r'("count": \d+,\s+"score": )[\d.]+', r"\1SCORE", text
    )  # a vote weighs less from day to day
    text = re.sub(r"weighing [\d.]+ now", "weighing SCORE now", text)
    text = re.sub(r'"(seconds|ms|p50|p99)": [\d.]+', r'"\1": TIME', text)
    text = re.sub(r'\d+ bytes, NOW|"bytes": \d+', "BYTES", text)  # of a log, whose lines hold times
    text = re.sub(r'"until": "20[^"]+"', '"until": "WHEN"', text)
    text = NAMED_VERSION.sub(r"\1 VERSION", text)
    text = re.sub(r"(?<=git version )\d[^,\n]*|(?<=orbit, version )\S+", "VERSION", text)
    return re.sub(r"\b\d+(\.\d+)? (ms|s)\b", r"TIME \2", text)


def pretty(text: str) -> str:
    """Return JSON over several lines, so that a difference is small; other text as it is."""
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    except ValueError:
        return text


def wrong_forms(data: Any) -> Iterator[Any]:
    """Yield what no answer is: nothing, another type, and the data, or each entry of a list,
    with one field more.
    """
    yield from (None, 1, "text", {}, [{}])
    yield (
        {**data, "made_up": 1}
        if isinstance(data, dict)
        else [{**entry, "made_up": 1} for entry in data] or [1]
    )


def check_envelope(arguments: list[str], text: str) -> None:
    """Hold an output to the envelope, and its data to the published form of the command's
    answer.
    """
    envelope = json.loads(text)
    assert list(ENVELOPE.iter_errors(envelope)) == []
    names = (" ".join(arguments[:count]) for count in (2, 1))
    name = next((name for name in names if name in ANSWERS["commands"]), None)
    if name is not None and envelope["data"] is not None:
        assert list(answer(name).iter_errors(envelope["data"])) == []
        if name not in ("query", "fleet query"):  # its columns are those that were asked for
            assert not any(answer(name).is_valid(form) for form in wrong_forms(envelope["data"])), (
                name
            )


def compare(folder: Path, outputs: dict[str, str], *, update: bool = UPDATE) -> None:
    if update:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, text in outputs.items():
            (folder / name).write_text(text, "utf-8")
    expected = {file.name: file.read_text("utf-8") for file in folder.iterdir()}
    differences = [
        line
        for name in sorted({*expected, *outputs})
        for line in difflib.unified_diff(
            expected.get(name, "").splitlines(),
            outputs.get(name, "").splitlines(),
            name,
            "now",
            lineterm="",
            n=2,
        )
    ]
    assert not differences, "\n".join(differences)


@pytest.fixture
def walk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Walk:
    """Run every command of a project's list in order; the result has what they print, by name."""
    pytest.importorskip("material", reason="the site extra is not installed")
    root = tmp_path / "project"

    def outputs(project: str, form: str) -> dict[str, str]:
        make_project(project, root)
        monkeypatch.chdir(root)
        home = tmp_path / "home"
        home.mkdir()
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
        # Which agents are installed here is no business of a golden file.
        monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}{os.pathsep}{os.defpath}")
        # A record's id is made of sixteen bytes, and nothing else is.
        ids, urandom = random.Random(project), os.urandom
        monkeypatch.setattr(
            os, "urandom", lambda size: ids.randbytes(size) if size == 16 else urandom(size)
        )
        result: dict[str, str] = {}
        last = ""
        for number, line in enumerate(command_lines(project)):
            words = shlex.split(line.replace("NEW", last))
            actor = words.pop(0).partition("=")[2] if words[0].startswith("BY=") else "human"
            monkeypatch.setenv("ORBIT_ACTOR", actor)
            as_json = form == "json" and "--format" not in words and words != ["--version"]
            code = run([*words, "--format", "json"] if as_json else words)
            printed = capsys.readouterr()
            last = next(
                iter(re.findall(r"\b(?:ADR|F|L|P|R|RES|RT)-[0-9a-z]{4,5}\b", printed.out)), last
            )
            if form == "json" and not as_json:
                continue
            if as_json:
                check_envelope(words, printed.out)
            name = re.sub(r"[^a-zA-Z0-9.]+", "-", line)[:60].strip("-")
            result[f"{number:03d}-{name}.txt"] = (
                f"$ orbit {line}\n{pretty(printed.out)}\n[messages]\n{printed.err}\n[exit code "
                f"{code}]\n"
            )
        return result

    return outputs


@pytest.fixture
def other_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python, git, this package and its libraries name other versions than they have."""
    folder, programs = tmp_path / "packages", tmp_path / "programs"
    for name in (*PACKAGES, *MATCHERS):
        package = importlib.metadata.distribution(name)
        described = folder / f"{name.replace('-', '_')}-{OTHER_VERSION}.dist-info"
        described.mkdir(parents=True)
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {OTHER_VERSION}\n"
        (described / "METADATA").write_text(head, "utf-8")
        (described / "entry_points.txt").write_text(
            package.read_text("entry_points.txt") or "", "utf-8"
        )
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ['PYTHONPATH']}")
    monkeypatch.setattr(platform, "python_version", lambda: OTHER_VERSION)
    programs.mkdir()
    git = programs / "git"
    lines = (
        "#!/bin/sh",
        "for last; do :; done",
        f'[ "$last" = version ] && exec echo "git version {OTHER_VERSION} (Example)"',
        f'exec {shutil.which("git")} "$@"',
    )
    git.write_text("\n".join(lines), "utf-8")
    git.chmod(0o755)


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("project", ["demo", "broken"])
def test_every_command_prints_what_it_did(
    project: str, form: str, walk: Walk, tmp_path: Path
) -> None:
    outputs = {
        name: normalised(text, tmp_path / "project") for name, text in walk(project, form).items()
    }
    compare(HERE / "expected" / project / form, outputs)


@pytest.mark.usefixtures("other_versions")
@pytest.mark.parametrize("form", ["text", "json"])
def test_other_versions_print_the_same(form: str, walk: Walk, tmp_path: Path) -> None:
    printed = walk("broken", form)
    assert printed["020-doctor.txt"].count(OTHER_VERSION) == len(["Python", *PACKAGES, "git"])
    outputs = {name: normalised(text, tmp_path / "project") for name, text in printed.items()}
    compare(HERE / "expected" / "broken" / form, outputs, update=False)


@pytest.mark.usefixtures("other_versions")
def test_another_version_of_orbit_prints_the_same(tmp_path: Path) -> None:
    """It is a process of its own: within one, click remembers the version that it printed first."""
    words = [sys.executable, "-m", "orbit_registry", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert OTHER_VERSION in done.stdout
    expected = (HERE / "expected/broken/text/023-version.txt").read_text("utf-8")
    assert normalised(done.stdout, tmp_path) in expected


def recorded_payloads(agent: str) -> list[Any]:
    if agent == "generic":
        return [case["call"] for case in YAML(typ="safe").load(CASES / "push/generic_calls.yaml")]
    files = sorted((CASES / "hooks" / agent).glob("*.json"))
    return [case["payload"] for file in files for case in json.loads(file.read_text("utf-8"))]


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "cursor", "gemini", "generic"])
def test_every_agent_is_answered_as_it_was(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "project"
    make_project("demo", root)
    monkeypatch.chdir(root)
    assert run(["sync"]) == 0
    replies = []
    for number, payload in enumerate(recorded_payloads(agent)):
        sent = json.dumps(payload).replace("{session}", f"s{number}")
        reply = run_client(
            root, sent.replace("{root}", str(root)).replace("ROOT", str(root)).encode(), agent
        )
        replies.append(f"> {sent}\n{pretty(reply.decode())}")
    compare(
        HERE / "expected" / "hook" / agent, {"replies.txt": normalised("\n".join(replies), root)}
    )


def test_every_command_with_json_is_in_a_walk() -> None:
    lines = [line for project in ("demo", "broken") for line in command_lines(project)]
    names = {" ".join(path) for path in WITH_JSON} - {"resolve"}
    assert [
        name
        for name in sorted(names)
        if not any(f"{line} ".startswith(f"{name} ") for line in lines)
    ] == []
