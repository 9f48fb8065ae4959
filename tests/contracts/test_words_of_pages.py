"""What a page shows is in the files of words, `site/languages/`; words outside them are found."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from orbit_registry.site import language

ROOT = Path(__file__).parents[2]
TOOLING = ROOT / "tooling"
PACKAGE = TOOLING / "orbit_registry"
SITE = PACKAGE / "site"
OVERRIDES = ROOT / "site-overrides"

NAMES = frozenset(
    {"Orbit", "DuckDB", "SQL", "JSON", "Atom", "Markdown", "Ctrl", "Enter", "Escape", "Tab"}
)
"""Names, which are the same in every language."""
BY_NAME = ("kind.", "relation.", "class.", "column.", "nav.", "status.", "page.", "about.", "fact.")
"""What the keys begin with that code makes from the name of a kind, a status and the like."""

_TEMPLATE = re.compile(
    r"(?s)@@orbit:\w+@@|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(script|style|code)\b.*?</\1>|<!--.*?-->"
)
_TEXT = re.compile(r">([^<>]*)<")
_ATTRIBUTE = re.compile(r'\b(?:aria-label|alt|placeholder|title)="([^"]*)"')
_WORD = re.compile(r"[^\W\d_]{2,}")
_COMMENT = re.compile(r"(?s)/\*.*?\*/|(?<![:\\\"'/])//[^\n]*")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
_ERROR = re.compile(r"new Error\([^\n]*")
_SENTENCE = re.compile(r"^\W*[A-Z][a-z]+(?:[ .…:]|$)|(?<![\w-])[a-z]{2,} [a-z]{3,}(?![\w-])")
_NO_WORDS = re.compile(
    r"^(?:SET|USE|ATTACH|SELECT|FROM|src lib) |[#.\[]\w[^ ]*[\]>~:,]|[{}=<>;]\S|^M\d|^use strict$"
)


def words_in(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word not in NAMES]


def in_template(text: str) -> Iterator[str]:
    """Yield the words that a template shows by itself."""
    bare = _TEMPLATE.sub(" ", text)
    for pattern in (_TEXT, _ATTRIBUTE):
        for shown in pattern.findall(f">{bare}<" if pattern is _TEXT else bare):
            if words_in(re.sub(r"&\w+;", " ", shown)):
                yield shown.strip()


def in_script(text: str) -> Iterator[str]:
    """Yield the strings of a script that read like words for a person."""
    code = _ERROR.sub("", _COMMENT.sub("", text))
    for double, template in _STRING.findall(code):
        shown = re.sub(r"\$\{[^}]*\}", "…", double or template)
        if _SENTENCE.search(shown) and not _NO_WORDS.search(shown) and words_in(shown):
            yield shown


def in_module(tree: ast.Module) -> Iterator[str]:
    """Yield what is between the tags of HTML that a module writes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield from _between_tags("".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _between_tags(node.value)


def _between_tags(text: str) -> Iterator[str]:
    is_pattern = "(?P<" in text
    if is_pattern or not re.search(r"</?[a-z][a-z0-9]*[ >]", text):
        return

    bare = _TEMPLATE.sub(" ", text)
    for shown in [*_TEXT.findall(bare), *_ATTRIBUTE.findall(bare)]:
        if words_in(re.sub(r"\{\}|&\w+;", " ", shown)):
            yield shown.strip()


def files() -> list[Path]:
    templates = [*OVERRIDES.rglob("*.html"), *(SITE / "templates").glob("*.html")]
    templates += (PACKAGE / "kinds").glob("*/page.html")
    scripts = (OVERRIDES / "assets").rglob("*.js")
    return sorted([*templates, *scripts, *SITE.glob("*.py")])


def outside(file: Path) -> list[str]:
    text = file.read_text("utf-8")
    if file.suffix == ".html":
        return [*in_template(text)]
    if file.suffix == ".js":
        return [*in_script(text)]

    return [*dict.fromkeys(in_module(ast.parse(text)))]


@pytest.mark.parametrize("file", files(), ids=lambda file: file.relative_to(ROOT).as_posix())
def test_no_page_has_words_of_a_file_of_code(file: Path) -> None:
    assert outside(file) == [], "put them into site/languages/en.yaml and de.yaml"


def test_the_search_for_words_sees_what_a_person_sees() -> None:
    assert [
        *in_template('<p title="Go on">Hi {{ x }}</p>{# no #}<i>{% if a %}there{% endif %}')
    ] == [
        "Hi",
        "there",
        "Go on",
    ]
    script = 'made("a", ".b > c", "Copy link"); /* "Not this" */ x = `${n} records name ${glob}`'
    assert [*in_script(script)] == ["Copy link", "… records name …"]
    assert [*in_module(ast.parse('f"<p>Nothing needs {x}</p>"; g("plain words")'))] == [
        "Nothing needs {}"
    ]


def test_every_key_is_used() -> None:
    code = "".join(
        file.read_text("utf-8")
        for folder in (TOOLING, OVERRIDES)
        for file in folder.rglob("*")
        if file.suffix in (".html", ".js", ".py")
    )
    unused = []
    for key in language.words_of(language.ENGLISH):
        stem = re.sub(r"\.(?:one|other)$", "", key)
        if stem not in code and f"{stem.rpartition('.')[0]}.$" not in code:
            unused.append(key)

    assert [key for key in unused if not key.startswith(BY_NAME)] == []


def test_some_module_says_what_a_fact_looks_like() -> None:
    folders = ("judgements", "lifecycle", "matching", "model", "operations")
    files = (file for folder in folders for file in (PACKAGE / folder).rglob("*.py"))
    modules = [file.read_text("utf-8") for file in files]
    facts = {
        key: re.findall(r"[^\W\d_]{4,}", re.sub(r"\{\w+\}", " ", text))
        for key, text in language.words_of(language.ENGLISH).items()
        if key.startswith(language.FACTS)
    }
    assert len(facts) > 40
    unknown = [
        key
        for key, words in facts.items()
        if not any(all(word in module for word in words) for module in modules)
    ]
    assert unknown == []
