"""One thought a statement: forms in which much is said at once are refused in the package."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLING = ROOT / "tooling"
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SIMPLE = (
    ast.AnnAssign,
    ast.Assert,
    ast.Assign,
    ast.AugAssign,
    ast.Delete,
    ast.Expr,
    ast.Raise,
    ast.Return,
)
MOST_NODES = 80


def _inside(node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(child, kinds) for child in ast.walk(node) if child is not node)


def _faults(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.IfExp) and _inside(node, (ast.IfExp,)):
        yield "a conditional expression in another"
    if isinstance(node, COMPREHENSIONS):
        if len(node.generators) > 1:
            yield "a comprehension with two `for`"
        if _inside(node, COMPREHENSIONS):
            yield "a comprehension in another"
    if isinstance(node, SIMPLE):
        size = sum(1 for _ in ast.walk(node))
        if size > MOST_NODES and not _is_table(node):
            yield f"a statement of {size} nodes"
    if _unpacks_a_condition(node):
        yield "a conditional expression that is unpacked"


def _is_table(node: ast.AST) -> bool:
    """Say whether a statement is data: a literal without a call, a condition or a loop."""
    logic = (ast.Call, ast.IfExp, ast.BoolOp, ast.Lambda, *COMPREHENSIONS)
    return not _inside(node, logic)


def _unpacks_a_condition(node: ast.AST) -> bool:
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return any(key is None and isinstance(value, ast.IfExp) for key, value in pairs)
    if isinstance(node, ast.keyword):
        return node.arg is None and isinstance(node.value, ast.IfExp)
    return isinstance(node, ast.Starred) and isinstance(node.value, ast.IfExp)


def _found(path: Path) -> list[str]:
    name = path.relative_to(TOOLING).as_posix()
    faults = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        line = getattr(node, "lineno", 0)
        faults += [f"{name}:{line}: {fault}" for fault in _faults(node)]

    return faults


FILES = sorted(TOOLING.rglob("*.py"))


def test_a_statement_says_one_thing() -> None:
    faults = [fault for path in FILES for fault in _found(path)]
    assert faults == []


REFUSED = {
    "x = 1 if a else 2 if b else 3": "a conditional expression in another",
    "x = [[y for y in z] for z in w]": "a comprehension in another",
    "x = [y for z in w for y in z]": "a comprehension with two `for`",
    "x = {**({1: 2} if a else {})}": "a conditional expression that is unpacked",
    "f(**({} if a else b))": "a conditional expression that is unpacked",
    "f(*(() if a else b))": "a conditional expression that is unpacked",
    f"x = f({', '.join(['g(a)'] * 30)})": "a statement of",
}


@pytest.mark.parametrize("text", REFUSED)
def test_dense_forms_are_seen(text: str) -> None:
    faults = [fault for node in ast.walk(ast.parse(text)) for fault in _faults(node)]
    assert [fault for fault in faults if fault.startswith(REFUSED[text])]


def test_a_table_of_values_may_be_long() -> None:
    text = f"NAMES = ({', '.join(map(repr, range(200)))})"
    assert [fault for node in ast.walk(ast.parse(text)) for fault in _faults(node)] == []


def test_the_formatter_has_no_exceptions() -> None:
    switch = "# fmt: " + "skip"
    files = [*FILES, *sorted((ROOT / "tests").rglob("*.py"))]
    files = [path for path in files if not path.is_relative_to(ROOT / "tests" / "cases")]
    assert [path.name for path in files if switch in path.read_text("utf-8")] == []
