"""Kinds of checks: what each finds and what it leaves, which checks are refused,
and that a broken one is noticed.
"""

import copy
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from orbit_enforce import kinds
from orbit_enforce.kind import Finder, Survey, Tree, all_kinds
from orbit_enforce.spec import DecisionCheck, checks_of
from orbit_registry.formats.code_tree import NotRunError
from orbit_registry.model.kind import load_kinds
from orbit_registry.model.record import Record

CASES: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "enforce" / "kinds.yaml").read_text("utf-8")
)


def check_of(fields: dict[str, Any]) -> DecisionCheck:
    record = Record(
        next(kind for kind in load_kinds() if kind.name == "adr"),
        {
            "id": "ADR-0001",
            "title": "A decision",
            "status": "accepted",
            "checks": [{"id": "a", **fields}],
        },
        ".orbit/adrs/ADR-0001/adr.yaml",
    )
    (check,) = checks_of(record)
    return check


def problems(fields: dict[str, Any]) -> list[str]:
    return [problem.message for problem in check_of(fields).problems]


@pytest.mark.parametrize("name", CASES)
def test_the_examples_of_a_check_hold(name: str) -> None:
    assert problems(CASES[name]) == []


@pytest.mark.parametrize("name", CASES)
def test_an_example_in_the_other_list_is_noticed(name: str) -> None:
    for example in CASES[name]["fails"]:
        swapped = {**CASES[name], "passes": [example]}
        assert "an example under `passes:` breaks ADR-0001/a" in problems(swapped), example


DEAD = {
    "go-call": {"pattern": {"language": "go", "find": "fmt.Println($$$A)"}},
    "call": {"pattern": {"language": "python", "find": "def ("}},
    "rule": {"pattern": {"language": "python", "find": "$F($$$A, start_new_session=True, $$$B)"}},
}


@pytest.mark.parametrize("name", DEAD)
def test_a_pattern_that_matches_nothing_is_noticed(name: str) -> None:
    fields = {key: value for key, value in CASES[name].items() if key != "pattern"}
    assert any(
        message.startswith("an example under `fails:`") or "can't be used" in message
        for message in problems({**fields, **DEAD[name]})
    )


def mutants(fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a check turned round, looking elsewhere, and misspelt."""
    yield {**fields, "must": "not" if fields.get("must") == "have" else "have"}
    yield {**fields, "in": ["elsewhere/*.none"]}
    (kind,) = set(fields) & set(all_kinds())
    for name, value in fields[kind].items():
        if name in ("words", "of", "only", "named") or name in ("regex", "find"):
            broken = copy.deepcopy(fields)
            broken[kind][name] = (
                [f"{text}x" for text in value] if isinstance(value, list) else f"{value}x"
            )
            yield broken


def test_examples_notice_nearly_every_way_to_break_a_check() -> None:
    results = [bool(problems(mutant)) for fields in CASES.values() for mutant in mutants(fields)]
    assert sum(results) / len(results) >= 0.95


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"txt": {}}, "`txt` is neither a field nor a kind of check"),
        (
            {"text": {"words": ["a"]}, "path": {"of": ["a"]}},
            "a check has one kind; this one has text and path",
        ),
        ({}, "a check has one kind; this one has none"),
        ({"text": {"words": [""]}}, "`words.0` is empty"),
        ({"text": {"word": ["a"]}}, "unknown field `word`"),
        ({"text": "a"}, "`text` is a text, not a mapping"),
        ({"import": {"of": ["."]}}, "ADR-0001/a can't be used: `.` names no module"),
        ({"text": {}}, "ADR-0001/a can't be used: `text` has either `words` or `regex`"),
        ({"same": {}}, "`of` is missing"),
        (
            {"path": {"only": ["a"]}, "must": "have"},
            "ADR-0001/a can't be used: `only` says itself what must be: leave out `must`",
        ),
        (
            {"pair": {"with": ["{stem}"]}, "must": "have"},
            "ADR-0001/a can't be used: `pair` says itself what must be: leave out `must`",
        ),
        (
            {"text": {"regex": "(?=a)"}},
            "ADR-0001/a can't be used: `regex` can't be read: invalid perl operator: (?=",
        ),
        ({"text": {"regex": "a*"}}, "ADR-0001/a can't be used: `regex` matches an empty text"),
        (
            {"path": {"of": ["/a"]}},
            "ADR-0001/a can't be used: `/a` is not a glob: the glob is absolute",
        ),
        (
            {"pattern": {"language": "cobol", "find": "a"}},
            '`language` is "cobol", which is not allowed',
        ),
        (
            {"pattern": {"language": "go", "rule": {"kind": "nope"}}},
            "ADR-0001/a can't be used: ast-grep can't read the pattern: 3: Kind `nope` is invalid",
        ),
        (
            {"pair": {"with": ["tests/test_*.py"]}},
            "ADR-0001/a can't be used: `tests/test_*.py` is not a path with "
            "`{folder}`, `{stem}` or `{name}` and at most one `**/`",
        ),
        (
            {"pair": {"with": ["**/a/**/{stem}"]}},
            "ADR-0001/a can't be used: `**/a/**/{stem}` is not a path with "
            "`{folder}`, `{stem}` or `{name}` and at most one `**/`",
        ),
        (
            {"same": {"of": {"a": "v={}"}}},
            "ADR-0001/a can't be used: `same` names two files or more",
        ),
        (
            {"same": {"of": {"a": "v={}", "b": "v"}}},
            '`of.b` is "v", which does not have the form it needs',
        ),
        (
            {"text": {"words": ["a"]}, "in": ["!a"]},
            "`!a` is no glob that includes: it starts with `!`",
        ),
    ],
)
def test_what_is_no_check_is_refused(fields: dict[str, Any], message: str) -> None:
    assert message in problems(fields)


def far(relations: int) -> dict[str, Any]:
    rule: dict[str, Any] = {"kind": "string"}
    for _ in range(relations):
        rule = {"kind": "call", "has": {**rule, "stopBy": "end"}}
    return rule


@pytest.mark.parametrize(
    "fields",
    [
        {"rule": far(4)},
        {"rule": {"any": [{"matches": "a"}]}, "utils": {"a": far(2), "b": far(1)}, "find": None},
        {"rule": {"pattern": "f($A)"}, "constraints": {"A": far(4)}},
        {"rule": {"has": {"matches": "a", "stopBy": {"kind": "block"}}}, "utils": {"a": far(3)}},
    ],
)
def test_a_rule_that_takes_too_long_is_refused(fields: dict[str, Any]) -> None:
    fits = fields.pop("find", 0) is None
    result = problems({"pattern": {"language": "python", **fields}})
    assert ("more than 3 relations with `stopBy` in one another" in result[0]) != fits


LINKS = {f"u{number}": {"any": [{"matches": f"u{number + 1}"}] * 2} for number in range(200)}


@pytest.mark.parametrize(
    ("rule", "utils", "reason"),
    [
        (
            "a",
            {"a": {"has": {"matches": "b"}}, "b": {"inside": {"matches": "a"}}},
            "of `utils` is recursive",
        ),
        ("u0", {**LINKS, "u200": {"kind": "call"}}, "a rule of more than 1,000 parts"),
        ("u197", {**LINKS, "u200": {"kind": "call"}}, "has no example"),
    ],
)
def test_utils_that_refer_to_each_other_take_bounded_time(
    rule: str, utils: dict[str, Any], reason: str
) -> None:
    start = time.process_time()
    (first, *_) = problems(
        {"pattern": {"language": "python", "rule": {"matches": rule}, "utils": utils}}
    )
    assert reason in first
    assert time.process_time() - start < 3


NUMBER = {"kind": "integer"}
SLOW: dict[str, tuple[dict[str, Any], str]] = {
    "deep code": (far(3), "f(" * 200 + "x" + ")" * 200),
    "a sum": (far(1), "x = " + "a+" * 30_000 + "a"),
    "deep code, many times": (far(2), ("f(" * 130 + "x" + ")" * 130 + "\n") * 60),
    "deep code after flat code": (far(2), "f(1)\n" * 20_000 + "f(" * 300 + "x" + ")" * 300),
    "statements after others": (
        {**NUMBER, "follows": {"kind": "string", "stopBy": "end"}},
        "1\n" * 8_000,
    ),
    "the place of statements": ({"kind": "expression_statement", "nthChild": 2}, "1\n" * 8_000),
    "what follows in deep code": (
        {
            "kind": "call",
            "has": {**NUMBER, "precedes": {"kind": "string", "stopBy": "end"}, "stopBy": "end"},
        },
        ("f(" * 60 + "1," * 60 + ")" * 60 + "\n") * 60,
    ),
    "all below what is above": (
        {
            **NUMBER,
            "inside": {
                "kind": "module",
                "has": {"kind": "lambda", "stopBy": "end"},
                "stopBy": "end",
            },
        },
        "x1=1\n" * 12_000,
    ),
    "statements below the same": (
        {"kind": "call", "inside": {"has": {"kind": "lambda"}}},
        "1\n" * 9_000,
    ),
}


@pytest.mark.parametrize("name", SLOW)
def test_relations_at_any_distance_take_bounded_time(name: str) -> None:
    rule, text = SLOW[name]
    finder = check_of({"pattern": {"language": "python", "rule": rule}}).finder
    assert isinstance(finder, Finder)
    assert len([*finder.find("a.py", "1\n" * 1_000 + "f(" * 40 + "x" + ")" * 40)]) == (
        rule.get("nthChild") == 2
    )
    start = time.process_time()
    with pytest.raises(NotRunError, match="too deep, or too much is side by side"):
        [*finder.find("a.py", text)]
    assert time.process_time() - start < 2


def test_a_turn_from_inside_to_has_reads_files_of_usual_length() -> None:
    around = {
        "kind": "function_definition",
        "stopBy": "end",
        "has": {"kind": "lambda", "stopBy": "end"},
    }
    finder = check_of(
        {"pattern": {"language": "python", "rule": {**NUMBER, "inside": around}}}
    ).finder
    assert isinstance(finder, Finder)
    assert len([*finder.find("a.py", "def f():\n    return [1 for _ in lambda: x]\n" * 500)]) == 500


def test_a_check_without_a_kind_is_about_no_file() -> None:
    assert not check_of({}).is_about_one_file


def test_a_condition_with_many_parts_hides_no_import() -> None:
    finder = check_of({"import": {"of": ["requests"]}}).finder
    assert isinstance(finder, Finder)
    text = (
        f"if {'1+' * 1_500}1:\n    import requests\nif typing.TYPE_CHECKING:\n    import requests\n"
    )
    assert [match.line for match in finder.find("a.py", text)] == [2]


@pytest.mark.parametrize(
    ("example", "hint"),
    [
        ("os", "write `{at: src/web/file.py, text: …}`"),
        (
            {"at": "src/file.py", "text": "os"},
            "src/file.py is not in the check's scope; correct `at:`, or `in:` of the check",
        ),
    ],
)
def test_the_hint_to_an_example_of_no_file_helps(example: object, hint: str) -> None:
    fields = {
        "in": ["src/web/**"],
        "import": {"of": ["os"]},
        "passes": [{"at": "src/web/a.py", "text": "x"}],
    }
    assert [problem.hint for problem in check_of({**fields, "fails": [example]}).problems] == [hint]


@pytest.mark.parametrize("glob", ["[!_]*.py", "src/[!x]*.py", "[!a-zA-Z]*/*.py"])
def test_an_example_has_a_name_in_a_scope_with_a_negated_class(glob: str) -> None:
    fields = {"in": [glob], "text": {"words": ["os"]}, "passes": ["x"], "fails": ["os"]}
    assert problems(fields) == []


PLACES: dict[str, tuple[dict[str, Any], str, str]] = {
    "old Mac lines": ({"import": {"of": ["os"]}}, "a.py", "x = 1\rimport os\r"),
    "bytes": ({"import": {"of": ["os"]}}, "a.py", "x = 'é–😀'; import os"),
    "rust": (
        {"text": {"words": ["os"]}},
        "a.rs",
        """f('"', b'"', '\\'', r#"\\ "os" "#, r"\\"); g::<'a>(import os)""",
    ),
    "regular expression": (
        {"text": {"words": ["os"]}},
        "a.ts",
        "a(/os`[/`]'/g, b => /\"/); x = 1 / 2; import os // `",
    ),
    "regular expression after return": (
        {"text": {"words": ["os"]}},
        "a.js",
        "return /`/\nx = a / b; import os",
    ),
    "haskell": ({"text": {"words": ["os"]}}, "a.hs", "y' = 'o' : '\"' : x'; import os"),
    "cargo": (
        {"dependency": {"of": ["os"]}},
        "Cargo.toml",
        "[package]\nname = 'os'\n[features]\nos = []\n[dependencies]\nimport.x = 1\nos = '1'",
    ),
    "cargo table": (
        {"dependency": {"of": ["os"]}},
        "Cargo.toml",
        "package.name = 'os'\n[dependencies.os]\npath = 'x'",
    ),
    "poetry": (
        {"dependency": {"of": ["os"]}},
        "pyproject.toml",
        "[tool.poetry]\nname = 'os'\n[tool.poetry.group.dev.dependencies]\n'os' = '1'",
    ),
    "npm": (
        {"dependency": {"of": ["os"]}},
        "package.json",
        (
            '{"name": "x", "scripts": {"os": "os"}, "a": {"dependencies": {"os": 1}}, '
            '"dependencies": {"os": "1"}}'
        ),
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_match_is_where_the_last_name_is(name: str) -> None:
    fields, path, text = PLACES[name]
    finder = check_of(fields).finder
    assert isinstance(finder, Finder)
    (match,) = finder.find(path, text)
    before = text[: text.rindex("os")].split("\n")
    assert match.line == len(before)
    assert len(before[-1]) - len("import ") < match.column <= len(before[-1]) + 1


@pytest.mark.parametrize("text", ["foo = { version = '1' }", "foo = { group = 1 }", "foo = 1"])
def test_a_catalogue_that_gradle_refuses_is_no_example(text: str) -> None:
    example = {"at": "libs.versions.toml", "text": f"[libraries]\n{text}\n"}
    assert problems({"dependency": {"of": ["mysql"]}, "passes": [example], "fails": ["mysql"]}) == [
        "an example of ADR-0001/a can't be read: the manifest can't be parsed"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "tool = 1",
        "tool.ruff = 'x'",
        "tool.ruff.lint = 3",
        "tool.ruff.lint.select = 5",
        "tool.importlinter = 1",
        "tool.importlinter.contracts = ['a']",
        "tool.ruff.lint.ignore = [1]",
    ],
)
@pytest.mark.parametrize("engine", ["ruff", "import-linter"])
def test_a_setting_of_another_form_is_not_on(engine: str, text: str) -> None:
    finder = check_of({"by": {"engine": engine, "rule": "X1"}}).finder
    assert isinstance(finder, Survey)
    files = {"pyproject.toml": text}
    assert len([*finder.find(Tree([*files], files.get), [])]) == 1


@pytest.mark.parametrize(
    ("settings", "is_on"),
    [
        ("select = ['T2']", True),
        ("select = ['ALL']\nignore = ['T20']", False),
        ("select = ['ALL', 'T201']\nignore = ['T20']", True),
        ("extend-select = ['T201']", True),
        ("select = ['E']", False),
        ("select = ['T']\nper-file-ignores = {'src/*' = ['T201']}", False),
        ("select = ['T']\nper-file-ignores = {'a.py' = ['T2']}", False),
        ("select = ['T']\nper-file-ignores = {'!src/**' = ['T2']}", True),
        ("select = ['T']\nper-file-ignores = {'!tests/**' = ['T2']}", False),
    ],
)
def test_a_rule_of_ruff_is_on_as_ruff_reads_its_settings(settings: str, is_on: bool) -> None:
    finder = check_of({"by": {"engine": "ruff", "rule": "T201"}}).finder
    assert isinstance(finder, Survey)
    files = {"ruff.toml": f"[lint]\n{settings}\n", "noxfile.py": "ruff", "src/app/a.py": ""}
    assert (not [*finder.find(Tree([*files], files.get), ["src/app/a.py"])]) == is_on


@pytest.mark.parametrize("module", ["re2", "ast_grep_py"])
def test_a_missing_library_is_said_and_never_passes(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    name = {"re2": "regex", "ast_grep_py": "call"}[module]
    assert problems(CASES[name]) == []
    with pytest.raises(NotRunError):
        _ = check_of(CASES[name]).finder
    for other in ("words", "python-import", "dependency", "path-only"):
        assert problems(CASES[other]) == []


@pytest.mark.parametrize(
    ("shape", "partner"), [("{folder}/{name}.snap", "{}.snap"), ("tests/**/m/{name}", "{}/m")]
)
def test_partners_of_many_files_with_one_name_take_linear_time(shape: str, partner: str) -> None:
    finder = check_of({"in": ["**/index.ts"], "pair": {"with": [shape]}}).finder
    assert isinstance(finder, Survey)
    files = [f"a{number}/index.ts" for number in range(20_000)]
    start = time.process_time()
    rows = finder.find(
        Tree([*files, *(partner.format(path) for path in files[:-1])], {}.get), files
    )
    assert [path for path, _ in rows] == (files[-1:] if "snap" in shape else files)
    assert time.process_time() - start < 8


def test_a_value_in_a_long_line_takes_no_time() -> None:
    of = {"a": 'version = "{}";', "b": "v={}"}
    finder = check_of({"same": {"of": of}}).finder
    assert isinstance(finder, Survey)
    texts = {"a": 'version = "' * 90_000 + '\nversion = "1";', "b": "v=1"}
    start = time.process_time()
    assert [*finder.find(Tree([*texts], texts.get), ["a"])] == []
    assert time.process_time() - start < 2


MADE_UP = """
from orbit_enforce.kind import CheckKind, Finder, match_at


def _make(fields, must):
    most = fields["most"]
    return Finder(lambda path, text: [match_at(text, 0, 1)] if len(text) > most else [])


KIND = CheckKind(name="length", properties={"most": {"type": "integer"}}, required=("most",), make=_make)
"""  # noqa: E501


def test_a_kind_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "length.py").write_text(MADE_UP, "utf-8")
    monkeypatch.setattr(kinds, "__path__", [*kinds.__path__, str(tmp_path)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    all_kinds.cache_clear()
    try:
        fields = {"in": ["**/*.md"], "length": {"most": 3}, "passes": ["abc"], "fails": ["abcd"]}
        assert problems(fields) == []
        assert problems({**fields, "length": {"least": 1}}) == [
            "`most` is missing",
            "unknown field `least`",
        ]
    finally:
        all_kinds.cache_clear()
        sys.modules.pop(f"{kinds.__name__}.length")
