"""A payload as a call: its JSON, the paths in it that are the project's,
and what its command is for.
"""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from orbit_registry.agents import gemini
from orbit_registry.hook.call import (
    LONGEST_PATH,
    MOST_PATHS,
    Call,
    in_project,
    named_paths,
    patch_paths,
    path_words,
)
from orbit_registry.hook.payload import take_prompt, take_tool
from orbit_registry.hook.project import project_paths
from orbit_registry.hook.purpose import (
    SCRIPTS,
    TOOLS,
    WRAPPERS,
    program_at,
    purpose_of,
    purposes_in,
)
from orbit_registry.hook.shell import paths_in_command

CASES: list[dict[str, Any]] = YAML(typ="safe").load(
    Path(__file__).parents[2] / "cases/push/calls.yaml"
)
FILES = (
    "src/a.py",
    "src/b.py",
    "src/my file.py",
    "docs/b.md",
    "Makefile",
    "README.md",
    "tests/test_x.py",
    ".orbit/learnings/L-00001/learning.yaml",
)
PIECES = st.sampled_from(
    [
        "/",
        "..",
        ".",
        "a",
        "b",
        "\\",
        "C:",
        "~",
        " ",
        "é",
        "\udc80",
        "//",
        "p",
        "r",
        "file://",
        "%2e",
    ]
)
SHELL = st.sampled_from(
    [
        "cd ",
        "a/b ",
        "'",
        '"',
        "$(",
        ")",
        "`",
        "<<E\n",
        "\nE\n",
        "\\",
        "${",
        "}",
        "{a,",
        ";",
        "&&",
        "| ",
        ">",
        "2>&1 ",
        "cat ",
        "bash -c ",
        "eval ",
        "#",
        "*** Begin Patch\n",
        "*** Add File: ",
        "@",
        ":1",
        "=",
        "--",
        "~/",
        "find ",
    ]
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def placed(root: Path, value: object) -> Any:
    if isinstance(value, dict):
        return {key: placed(root, path) for key, path in value.items()}
    if isinstance(value, list):
        return [placed(root, path) for path in value]
    return value.replace("ROOT", str(root)) if isinstance(value, str) else value


def taken(root: Path, folder: str, tool: str, arguments: object) -> Call:
    call = Call("PreToolUse", "tool")
    call.folder = folder
    take_tool(call, tool, arguments)
    return call


def test_a_folder_named_by_a_tool_is_a_folder(root: Path) -> None:
    """Without a slash at its end too, so that `src/**` applies;
    spaces round a path are no part of it.
    """
    call = taken(root, str(root), "Grep", {"path": " src "})
    assert project_paths(str(root), str(root), call)[0] == ["src/"]
    call = taken(root, str(root), "Read", {"file_path": f" {root}/src/a.py\n"})
    assert project_paths(str(root), str(root), call)[0] == ["src/a.py"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_a_tool_names_its_paths(root: Path, case: Mapping[str, Any]) -> None:
    folder = placed(root, case.get("folder", "ROOT"))
    call = taken(root, folder, case["tool"], placed(root, case["input"]))

    paths, loggable = project_paths(str(root), call.folder or folder, call)

    assert paths == case["paths"]
    assert (call.task_class == "code") is case.get("code", False)
    visited = [in_project(str(root), call.folder or folder, path) or "" for path in call.reads]
    assert [
        path for path in paths if path.rstrip("/") in {path.rstrip("/") for path in visited}
    ] == case.get("reads", [])
    assert set(loggable) <= set(paths)
    if call.paths_are_heuristic:
        assert all((root / path).exists() for path in loggable), (
            "a word that names nothing may be a secret"
        )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("git status --short", []),
        ("Look at `src/a.py`|head>out.txt", ["src/a.py", "out.txt"]),
        ("pytest tests/x.py::test_y src/b.py:12:3", ["tests/x.py", "src/b.py"]),
        ("see https://example.org/a.py", []),
        (
            "Mend @src/a.py, please. Then (docs/b.md)! Or [it](docs/c.md#top).",
            ["src/a.py", "docs/b.md", "docs/c.md"],
        ),
        ("請看「src/a.py」、docs/b.md。", ["src/a.py", "docs/b.md"]),
        ("请修改src/a.py。", ["请修改src/a.py", "src/a.py"]),
        ("请修改docs/设计.md。", ["请修改docs/设计.md", "docs/设计.md"]),
        ("docs/设计.md中的表", ["docs/设计.md中的表", "docs/设计.md"]),
        ("docs/设计.md", ["docs/设计.md"]),
        ("src/a.pyを直して", ["src/a.pyを直して", "src/a.py"]),
        ("src/a.py를 고쳐", ["src/a.py를", "src/a.py"]),
        ("src/文档/a.md", ["src/文档/a.md"]),
        ("src/ünïcode/a.md", ["src/ünïcode/a.md"]),
        ("src\\a.py", ["src\\a.py"]),
        ('mend @"my docs/a file.md" now', ["docs/a", "file.md", "my docs/a file.md"]),
        ('he said "and so on" of src/a.py, "very well"', ["src/a.py"]),
        ("file:///r/src/a.py", ["file:///r/src/a.py"]),
        ("", []),
    ],
)
def test_words_of_a_prompt_that_may_be_paths_are_found(text: str, words: list[str]) -> None:
    assert path_words(text) == words
    call = Call("UserPromptSubmit", "prompt")
    take_prompt(call, text)
    assert (call.paths, call.paths_are_heuristic, call.text) == (words, True, text)


@pytest.mark.parametrize("form", ["see src/a.py\n{log}", "{log}\nsee src/a.py"])
def test_a_path_before_or_after_a_pasted_log_is_found(form: str) -> None:
    log = "".join(f"at node_modules/lib/file{number}.js\n" for number in range(20_000))

    words = path_words(form.format(log=log))

    assert "src/a.py" in words
    assert len(words) <= MOST_PATHS


@example("--cd ")
@example("--cd src")
@given(st.lists(SHELL, max_size=40).map("".join))
def test_any_command_is_read_to_its_end(command: str) -> None:
    paths = paths_in_command(command)
    assert len(paths.paths) + len(paths.candidate_paths) <= MOST_PATHS


def test_no_more_than_a_bounded_number_is_taken() -> None:
    many = [f"a/{number}" for number in range(5000)]
    assert len(path_words(" ".join(many))) == MOST_PATHS
    assert len(paths_in_command(f"cat {' '.join(many)}").paths) == MOST_PATHS
    assert len(paths_in_command("cat " + "{a,b}" * 12).candidate_paths) <= MOST_PATHS
    assert len(named_paths({"paths": many})) == MOST_PATHS
    assert len(patch_paths("".join(f"*** Add File: {path}\n" for path in many))) == MOST_PATHS
    call = taken(
        Path("/p"), "/p", "mcp__x__y", {"paths": many, "more": [{"path": path} for path in many]}
    )
    assert len(call.paths) == MOST_PATHS
    assert in_project("/r", "/r", "a" * (LONGEST_PATH + 1)) is None


def test_a_large_patch_is_read_to_its_end() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: a/1\n"
        + "+x\n" * 400_000
        + "*** Add File: a/2\n*** End Patch\n"
    )
    assert patch_paths(patch) == ["a/1", "a/2"]
    assert paths_in_command(f"apply_patch <<'E'\n{patch}E\n").paths == ["a/1", "a/2"]


def test_a_patch_behind_many_paths_loses_no_command() -> None:
    files = " ".join(f"src/{number}.py" for number in range(60))
    patch = "*** Begin Patch\n*** Update File: Makefile\n*** End Patch\n"
    command = f"cat {files}; apply_patch <<'E'\n{patch}E\n"
    assert len(paths_in_command(command).paths) >= 50


@pytest.mark.parametrize(
    ("folder", "text", "path"),
    [
        ("/p/r", "src/a.py", "src/a.py"),
        ("/p/r/src", "a.py", "src/a.py"),
        ("/p/r", "/p/r/./src//x/../a.py", "src/a.py"),
        ("/p/r", "src/", "src/"),
        ("/p/r/src", "../../r/b", "b"),
        ("/p/r", "/p/r", None),
        ("/p/r", "/p/rx/a.py", None),
        ("/p/r", "../a.py", None),
        ("/p/r", "/../../etc/passwd", None),
        ("C:\\r", "c:\\R\\src\\a.py", "src/a.py"),
        ("C:\\r", "D:\\r\\a.py", None),
        ("/p/r", "src\\a.py", "src/a.py"),
        ("/p/r", "a\0b", None),
        ("/p/r", "file:///p/r/a%20b", "a b"),
        ("/p/r", "\x01/src", "src"),
        ("/p/r", "~/x", None),
        ("/p/r", "", None),
    ],
)
def test_a_path_counts_from_the_project(folder: str, text: str, path: str | None) -> None:
    assert in_project("/p/r", folder, text) == path


@given(st.lists(PIECES, max_size=12).map("".join), st.lists(PIECES, max_size=4).map("".join))
def test_nothing_leads_out(text: str, folder: str) -> None:
    path = in_project("/p/r", folder, text)
    if path is not None:
        names = path.removesuffix("/").split("/")
        assert path
        assert not {"", ".", ".."} & set(names)


def test_only_a_compression_that_was_asked_for_shows_all_anew() -> None:
    payload = {"hook_event_name": "PreCompress", "session_id": "s", "cwd": "/r"}
    paths = [gemini.read({**payload, "trigger": trigger}) for trigger in ("auto", "manual")]
    assert [call is not None and call.context_was_compacted for call in paths] == [False, True]


TOOLING = Path(__file__).resolve().parents[3] / "tooling"
STRANGE = """
import types
real = __import__("_json")
strange = types.ModuleType("_json")
strange.__dict__.update(real.__dict__)
def make_scanner(context):
    context.memo  # the library's own decoder has it, and another may have more
    return real.make_scanner(context)
strange.make_scanner = make_scanner
"""


@pytest.mark.parametrize(
    "insides", [f"{STRANGE}\nsys.modules['_json'] = strange", "sys.modules['_json'] = None"]
)
def test_json_is_read_by_the_library_as_fallback(insides: str) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(TOOLING)!r})\n{insides}\n"
        "from orbit_registry.hook.payload import parse_json, to_json\n"
        "print(parse_json('\\ufeff {\"a\": [1, NaN, \"x\\ty\"]} more'), to_json({'a': 'é'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "{'a': [1, nan, 'x\\ty']} {\"a\": \"\\u00e9\"}\n"


@pytest.mark.parametrize(
    ("command", "purposes"),
    [
        ("pytest -q tests/a.py", "test"),
        ("cd web && npm run test:unit", "test"),
        ("source .venv/bin/activate && python3.12 -m pytest", "test"),
        ("uv run --group test pytest -x", "test"),
        ("docker compose -f dev.yml exec -T web pytest", "test"),
        ("docker run --rm -e A=b image pytest", "test"),
        ("go test ./...", "test"),
        ("go vet ./...", "lint"),
        ("cargo nextest run -p core", "test"),
        ("make -C web lint", "lint"),
        ("nox -s tests -- -k x", "test"),
        ("tox -e py311", "test"),
        ("uv pip install -e .", "install"),
        ("npx --yes tsc --noEmit", "types"),
        ("env FOO=1 pytest; echo ok", "test"),
        ("timeout 60 ruff check . && mypy", "lint types"),
        ("uv tool run ruff format .", "format"),
        ("python manage.py test", "test"),
        ("bash -lc 'npm ci && npm run build'", "install build"),
        ("ls tests", ""),
        ("git commit -m 'fix the tests'", ""),
        ("cat tests/lint", ""),
        ("mkdir build", ""),
        ("grep -rn pytest .", ""),
        ("echo pytest", ""),
    ],
)
def test_a_command_has_the_purpose_of_its_programs(command: str, purposes: str) -> None:
    assert " ".join(paths_in_command(command).purposes) == purposes


@pytest.mark.parametrize(
    ("headline", "purposes"),
    [
        ("Tests run with `nox -s tests`; `pytest` fails here: a module is missing.", ["test"]),
        ("After a change of code `ruff check`, then `uv run pytest` are run.", ["lint", "test"]),
        ("Dependencies are installed with `pnpm install`.", ["install"]),
        ("A new file in `src/tests/` is registered in `src/build/index.ts`.", []),
        ("Prices are rounded half to even.", []),
    ],
)
def test_a_headline_is_about_its_commands_and_nouns(headline: str, purposes: list[str]) -> None:
    assert purposes_in(headline) == purposes


WORDS = st.sampled_from(
    [*" ".join(WRAPPERS).split(), *TOOLS, "-e", "--rm", "A=b", "web", ".", "", "x/python3.1"]
)


@given(st.lists(WORDS, max_size=12))
def test_any_words_have_a_purpose_or_none(words: list[str]) -> None:
    assert 0 <= program_at(words) <= len(words) + 2
    assert purpose_of(words) in {"", *SCRIPTS.values()}
