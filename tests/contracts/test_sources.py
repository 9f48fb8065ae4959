"""The house rules for Python files that a linter has no word for, and a hint in every error."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from orbit_registry import errors

ROOT = Path(__file__).resolve().parents[2]
TOOLING = ROOT / "tooling"
SOURCES = [
    ROOT / "noxfile.py",
    *sorted(path for path in TOOLING.rglob("*.py")),
    *sorted(
        path
        for path in (ROOT / "tests").rglob("*.py")
        if not path.is_relative_to(ROOT / "tests" / "cases")
    ),
]
LONGEST_HINT = 120
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}


@dataclass(frozen=True)
class Source:
    """What the rules ask of a file; keeping all trees would take most of the time."""

    text: str
    imports: frozenset[str]
    attributes: frozenset[str]
    variables: frozenset[str]
    hints: frozenset[str]


@cache
def source(path: Path) -> Source:
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    nodes = [*ast.walk(tree)]
    of_package = path.is_relative_to(TOOLING)
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return Source(
        text,
        frozenset(imported(tree) if of_package else ()),
        frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute)),
        frozenset(name for function in functions for name in bound(function) if of_package),
        frozenset(
            hint
            for node in nodes
            if isinstance(node, ast.keyword) and node.arg == "hint"
            for hint in hints(node)
        ),
    )


def hints(keyword: ast.keyword) -> Iterator[str]:
    """Yield what a hint may be as it is written down; what is filled in counts as nothing."""
    value = keyword.value if keyword.arg == "hint" else None
    for text in [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]:
        parts = text.values if isinstance(text, ast.JoinedStr) else [text]
        if isinstance(text, ast.JoinedStr | ast.Constant):
            yield "".join(str(part.value or "") for part in parts if isinstance(part, ast.Constant))


def bound(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def names(paths: Iterable[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def test_a_file_says_first_what_it_owns() -> None:
    assert names(path for path in SOURCES if not source(path).text.startswith('"""')) == []


def test_types_are_mended_not_silenced() -> None:
    silenced = "# type: " + "ignore"
    assert names(path for path in SOURCES if silenced in source(path).text) == []


def test_a_file_is_named_after_what_it_owns() -> None:
    assert (
        names(
            path
            for path in SOURCES
            if VAGUE_NAMES & set(path.relative_to(ROOT).with_suffix("").parts)
        )
        == []
    )


def test_no_test_waits_for_a_clock() -> None:
    assert names(
        path
        for path in SOURCES
        if path.is_relative_to(ROOT / "tests") and "sleep(" in source(path).text
    ) == [Path(__file__).relative_to(ROOT).as_posix()]


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield what a file imports from the package,
    also inside functions and for the type checker alone.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_imports_make_a_circle() -> None:
    files = {
        ".".join(path.relative_to(ROOT / "tooling").with_suffix("").parts).removesuffix(
            ".__init__"
        ): path
        for path in TOOLING.rglob("*.py")
    }
    graph = {name: files.keys() & source(path).imports - {name} for name, path in files.items()}
    TopologicalSorter(graph).prepare()


def test_importing_the_package_imports_nothing_else() -> None:
    """`import orbit_registry` loads that one module,
    so that the push client starts at the interpreter's own speed.
    """
    program = (
        "import sys; before = set(sys.modules); import orbit_registry; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["orbit_registry"]


STARTS = {
    "orbit_registry/workspace/trusted_commands.py": "what the configuration names, if allowed",
    "orbit_registry/exchange/resources/run.py": "a script that was reviewed, when somebody runs it",
    "orbit_registry/workspace/git.py": "git",
    "orbit_registry/site/generate.py": "the site's generator, by our interpreter",
    "orbit_registry/site/npm.py": "npm, in an empty folder",
    "orbit_registry/agents/install/trial.py": "the hook that we would install",
    "orbit_registry/hook/refresh.py": "ourselves",
    "orbit_registry/doors/cli/encoding.py": "ourselves, with UTF-8 names of files",
    "orbit_fleet/collect.py": "ourselves, for one repository",
    "orbit_registry/doors/mcp/proxy.py": "the server that its command line names",
}
"""Every module that starts a program, and which."""
_STARTERS = re.compile(
    r"Popen|posix_spawnp?|(exec|spawn)[lv]p?e?|system|popen|fork(pty)?|(open|run)_process"
)


def test_one_module_alone_starts_what_a_configuration_names() -> None:
    """No other module starts a program and reads the configuration,
    so that none can pass consent by.
    """
    starters = {}
    for path in TOOLING.rglob("*.py"):
        text = source(path).text
        if "import subprocess" in text or any(map(_STARTERS.fullmatch, source(path).attributes)):
            starters[path.relative_to(TOOLING).as_posix()] = (
                "workspace.config" in text or ".setting(" in text
            )
    trusted = "orbit_registry/workspace/trusted_commands.py"
    assert starters == {name: name == trusted for name in STARTS}


EMPTY_NAMES = {
    "one",
    "said",
    "held",
    "found",
    "asked",
    "given",
    "told",
    "named",
    "stated",
    "begun",
    "looked",
    "kept",
}
"""Names of variables that say nothing about what they hold."""


def test_names_say_what_they_hold() -> None:
    empty = {
        path: EMPTY_NAMES & source(path).variables for path in SOURCES if path.name != "registry.py"
    }
    assert {path: names for path, names in empty.items() if names} == {}


TREE = [
    error
    for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, errors.OrbitError)
]


@pytest.mark.parametrize("error", TREE, ids=lambda error: str(error.__name__))
def test_no_error_is_made_without_a_hint(error: type[errors.OrbitError]) -> None:
    assert inspect.signature(error).parameters["hint"].default is inspect.Parameter.empty


def test_hints_are_short_and_not_empty() -> None:
    hints = [
        hint for path in SOURCES if path.is_relative_to(TOOLING) for hint in source(path).hints
    ]
    assert len(hints) > 300
    assert [hint for hint in hints if not hint or len(hint) > LONGEST_HINT] == []


def test_commands_print_through_one_writer() -> None:
    """It makes hidden characters visible, and no line a command to a runner of CI."""
    printing = re.compile(r"click\.s?echo\(|(?<![\w.])print\(|sys\.stdout\.write\(")
    commands = TOOLING / "orbit_registry/doors/cli"
    modules = [path for path in SOURCES if path.parent == commands]
    assert [path.name for path in modules if printing.search(path.read_text("utf-8"))] == [
        "writer.py"
    ]
