"""The imports of code: which modules a file imports, by their full names."""

from __future__ import annotations

import ast
import posixpath
import re
import sys
import unicodedata
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from orbit_registry.formats.code_tree import NotRunError, UnreadableError, parsed
from orbit_registry.formats.globs import Glob, matches, parse_glob
from orbit_registry.formats.syntax import comments_and_strings, language_of

_SCRIPT = {
    "any": [
        {"kind": "import_statement"},
        {"kind": "export_statement", "has": {"field": "source", "regex": "."}},
        {"pattern": "require($$$A)"},
        {"pattern": "require.resolve($$$A)"},
        {"pattern": "import($$$A)"},
    ]
}
_SCRIPTS = ("javascript", "typescript", "tsx")
_USES = {"any": [{"kind": "use_declaration"}, {"kind": "extern_crate_declaration"}]}
_INCLUDE = {"kind": "preproc_include"}
RULES: Mapping[str, Mapping[str, object]] = {
    **dict.fromkeys(_SCRIPTS, _SCRIPT),
    **{language: {"kind": "import_declaration"} for language in ("java", "scala", "swift")},
    "kotlin": {"kind": "import_header"},
    "go": {"kind": "import_spec"},
    "rust": _USES,
    "csharp": {"kind": "using_directive"},
    "php": {"kind": "namespace_use_declaration"},
    "ruby": {"kind": "call", "regex": "^require"},
    "c": _INCLUDE,
    "cpp": _INCLUDE,
}
"""Which nodes of ast-grep are imports."""
_DOTTED = ("python", "java", "scala", "kotlin", "csharp", "swift")
_SEPARATORS = {"rust": "::", "php": "\\", **dict.fromkeys(_DOTTED, ".")}
_KEYWORDS = re.compile(
    r"\A\s*(?:(?:pub(?:\([^)]*\))?|import|use|using|static|global|function|const|extern|crate)\s+)*"
)
_ALIAS = re.compile(r"\A\w+\s*=\s*(?!>)")  # C#'s `using A = B.C;`
_QUOTED = re.compile(r"['\"`<]([^'\"`>\n]+)['\"`>]")
_RENAMED = re.compile(r"\s+as\s+.*|\s*=>.*|;.*", re.DOTALL)
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ATTRIBUTES = re.compile(r"\b(?:with|assert)\s*\{[^}]*\}\s*;?\s*\Z")
_REGISTRY = re.compile(
    r"\A(?:(?:npm|jsr):/?|https://(?:esm\.sh|cdn\.skypack\.dev|unpkg\.com|cdn\.jsdelivr\.net/npm)/)"
)
"""What says from where a script takes a package, before its name."""
_VERSION = re.compile(r"(?<=[\w-])@[^/]*")
_SCRIPT_ENDING = re.compile(r"(?:/index)?\.[cm]?[jt]sx?\Z|/index\Z")
_SCRIPTS_IN_PAGES = {
    "vue": r"<script\b(?P<head>[^>]*)>(?P<code>.*?)</script\s*>",
    "svelte": r"<script\b(?P<head>[^>]*)>(?P<code>.*?)</script\s*>",
    "astro": r"\A\s*---(?P<head>)[ \t]*\n(?P<code>.*?)^---",
}
"""Code in files of another language, by their extension."""
_TYPES = re.compile(r"(?:import|export)\s+(?:type\b|\{\s*type\s[^,}]*(?:,\s*type\s[^,}]*)*,?\s*\})")


class ModuleNameError(Exception):
    """A text names no module."""


class ImportFinder:
    """Finds the imports of some modules, which are named by globs; raises ModuleNameError."""

    def __init__(self, texts: Sequence[str], *, types: bool = False) -> None:
        self.types = types
        self.globs = {
            separator: [*_globs(texts, separator)] for separator in {*_SEPARATORS.values(), "/"}
        }
        self.needles = [_words_of(text) for text in texts]

    def find(self, path: str, text: str) -> Iterator[tuple[int, int]]:
        """Yield the offsets of each import of a module; raises NotRunError."""
        language = code_language(path) or ""
        raw = text
        if language == "python" and not text.isascii():
            raw = unicodedata.normalize("NFKC", text)  # as Python reads names

        if not any(_may_import(words, path, raw) for words in self.needles):
            return

        separator = _SEPARATORS.get(language, "/")
        for names, start, end in _imports(path, text, language, self.types):
            if self._has_one(names, separator):
                yield start, end

    def _has_one(self, names: Sequence[str], separator: str) -> bool:
        for name in _spellings(names, separator):
            if any(matches(glob, name) for glob in self.globs[separator]):
                return True

        return False


def reads_imports(path: str) -> bool:
    """Return whether the imports of a file can be told, by its name."""
    return code_language(path) in ("python", *RULES)


def code_language(path: str) -> str | None:
    """Return the language of a file's code; a component has its script in it."""
    is_page = path.rpartition(".")[2].lower() in _SCRIPTS_IN_PAGES
    if is_page:
        return "typescript"

    return language_of(path)


def _script_in(path: str, text: str) -> tuple[str, str]:
    """Return the code of a component, each letter where it is in the file, and its language."""
    pattern = _SCRIPTS_IN_PAGES[path.rpartition(".")[2].lower()]
    parts: list[str] = []
    language = "typescript"
    at = 0
    for script in re.finditer(pattern, text, re.DOTALL | re.IGNORECASE | re.MULTILINE):
        parts += [re.sub(r"[^\n]", " ", text[at : script.start("code")]), script["code"]]
        at = script.end("code")
        if re.search(r"\blang=[\"']?[jt]sx", script["head"]):
            language = "tsx"

    return "".join(parts), language


_STATEMENT = re.compile(
    r"(?:^|(?<=[;:]))[ \t]*(?P<words>(?:from|import)\b(?:[^\n;()\\]|\\\n|\([^()]*\))*)",
    re.MULTILINE,
)
"""An import of Python, in a text without comments and strings."""


def imported_names(path: str, text: str, names: Sequence[str]) -> list[str]:
    """Return which of some packages and modules a file imports, each by its own name or by that of
    a module in it; none where the file can't be read.
    """
    language = code_language(path)
    if language not in ("python", *RULES):
        return []

    candidates = [name for name in names if _may_import(_words_of(name), path, text)]
    if candidates and _RELATIVE.search(text) is None:
        candidates = [name for name in candidates if _first_word(name).search(text)]

    if candidates and language == "python":
        text = _import_statements(path, text)

    return [name for name in candidates if _is_imported(name, path, text)]


def all_imports(path: str, text: str) -> Iterator[str]:
    """Yield the full name of each module that a file imports; a name that begins with `/` is a
    file's. Nothing where the file can't be read, or its language needs a parser that is missing.
    """
    language = code_language(path)
    if language not in ("python", *RULES):
        return

    if language == "python":
        text = _import_statements(path, text)

    try:
        statements = _imports(path, text, language, True)
    except (NotRunError, UnreadableError):
        return

    for names, _, _ in statements:
        yield from _modules(names, language)


def _modules(names: Sequence[str], language: str) -> Sequence[str]:
    """Return the modules of an import, not what is taken from them: `a` of `from a import b`."""
    is_from = language == "python" and len(names) > 1 and names[1].startswith(f"{names[0]}.")
    if is_from:
        return names[:1]

    return names


def imports_with_lines(path: str, text: str) -> list[tuple[str, int]] | None:
    """Return the modules that a file imports from elsewhere, each with its line, but for those that
    come with Python; None of a language that can't be read here.
    """
    language = code_language(path)
    if language not in ("python", *RULES):
        return None

    try:
        statements = _imports(path, text, language, True)
    except (NotRunError, UnreadableError):
        return None

    rows: list[tuple[str, int]] = []
    for names, start, _ in statements:
        line = text.count("\n", 0, start) + 1
        for name in _modules(names, language):
            is_standard = language == "python" and name.split(".")[0] in sys.stdlib_module_names
            if not is_standard and not name.startswith(("/", ".", "@/", "~", "#")):
                rows.append((name.removeprefix("node:"), line))

    return rows


def _is_imported(name: str, path: str, text: str) -> bool:
    try:
        return any(True for _ in _finder_of(name).find(path, text))
    except (NotRunError, ModuleNameError):
        return False


@lru_cache(maxsize=1024)
def _first_word(name: str) -> re.Pattern[str]:
    """Return what is in each text that imports a name by its full name: its first word."""
    word = re.escape(_words_of(name)[0])
    is_glob = re.search(r"[*?\[{]", name) is not None
    return re.compile(word if is_glob else rf"{word}(?<!\w{word})(?!\w)")


@lru_cache(maxsize=1024)
def _finder_of(name: str) -> ImportFinder:
    return ImportFinder([name], types=True)


def _import_statements(path: str, text: str) -> str:
    """Return the imports of a text of Python, one a line: to parse all of it takes far longer."""
    parts: list[str] = []
    calls: list[str] = []
    at = 0
    for start, end, _ in comments_and_strings(path, text):
        parts.append(text[at:start])
        before = _IMPORTING.search(text, max(at, start - 80), start)
        if before is not None:
            call = _CALL_END.match(text, end)
            calls.append(f"{before[0]}{text[start:end]}{call[0] if call else ')'}")

        at = end

    code = "".join((*parts, text[at:]))
    statements = [match["words"] for match in _STATEMENT.finditer(code)]
    return "\n".join(statement.strip() for statement in (*statements, *calls))


_IMPORTERS = ("import_module", "__import__", "importorskip")
_IMPORTING = re.compile(rf"(?<!\w)(?:{'|'.join(_IMPORTERS)})\(\s*\Z")
_CALL_END = re.compile(
    r"\s*,\s*(?:package\s*=\s*)?(?:__package__|__name__|['\"][\w.]+['\"])\s*,?\s*\)"
)


def _words_of(name: str) -> list[str]:
    return [word for word in re.split(r"[*?\[\]{}./:\\,]+", name) if word] or [""]


_RELATIVE = re.compile(r"from\s+\.|['\"]\.\.?/|import_module\(\s*['\"]\.")


def _may_import(words: Sequence[str], path: str, text: str) -> bool:
    """Say whether a file can import a module with these words in its name:
    parsing costs far more.
    """
    if all(word in text for word in words):
        return True
    return (words[-1] in text or words[-1] in path) and _RELATIVE.search(text) is not None


def _globs(texts: Sequence[str], separator: str) -> Iterator[Glob]:
    """Yield the globs of modules as globs of paths: a module is itself and all below it."""
    for text in texts:
        if not text.strip("./:\\"):
            raise ModuleNameError(f"`{text}` names no module")

        form = _without_registry(text).replace(separator, "/").replace("\\", "/").rstrip("/")
        yield _glob(form)

        if not form.endswith("/**"):
            yield _glob(f"{form}/**")
        elif form != "**":
            yield _glob(form.removesuffix("/**"))


def _glob(text: str) -> Glob:
    glob = parse_glob(text)
    if not isinstance(glob, Glob):
        raise ModuleNameError(f"`{text[:80]}` is not a glob: {glob.message}")
    if glob.exclude:
        message = f"`{text[:80]}` starts with `!`: write it without, under `except:`"
        raise ModuleNameError(message)

    return glob


def _spellings(names: Sequence[str], separator: str) -> Iterator[str]:
    """Yield names as paths; one that starts with `/` is a file's,
    whose first folders may not be part of the name.
    """
    for name in names:
        if name.startswith("/"):
            parts = name[1:].split("/")
            yield from ("/".join(parts[start:]) for start in range(max(len(parts) - 1, 1)))
        else:
            yield name.replace(separator, "/")


@lru_cache(maxsize=2)  # several checks look at one file in a row
def _imports(
    path: str, text: str, language: str, types: bool
) -> Sequence[tuple[list[str], int, int]]:
    """Return the names that each import of a file may mean, and its offsets."""
    return list(
        _python(path, text, types) if language == "python" else _other(path, text, language, types)
    )


def _python(path: str, text: str, types: bool) -> Iterator[tuple[list[str], int, int]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnreadableError(
            f"Python {sys.version_info[0]}.{sys.version_info[1]} can't parse it"
        ) from None

    lines = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", text))]
    if text.isascii():
        sizes = []
    else:
        sizes = [0, *accumulate(len(character.encode()) for character in text)]

    def offset(line: int, column: int) -> int:  # the parser counts bytes
        start = lines[line - 1]
        if sizes:
            return bisect_left(sizes, sizes[start] + column)

        return start + column

    folders = posixpath.dirname(path).split("/")
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        match node:
            case ast.If(
                ast.Name("TYPE_CHECKING") | ast.Attribute(ast.Name("typing"), "TYPE_CHECKING")
            ) if not types:
                nodes += node.orelse
                continue

        nodes += ast.iter_child_nodes(node)

        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = _relative(folders, node.level, base)

            joint = "/" if node.level else "."
            names = [base, *(f"{base}{joint}{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and (name := _imported_by_call(node, folders)):
            names = [name]
        else:
            continue

        end = offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        yield names, offset(node.lineno, node.col_offset), end


def _relative(folders: Sequence[str], level: int, name: str) -> str:
    above = folders[: len(folders) - level + 1]
    return "/".join(("", *filter(None, above), *name.split("."))).rstrip("/")


def _imported_by_call(call: ast.Call, folders: Sequence[str]) -> str:
    """Return the module that `importlib.import_module("…")` and its kin import; empty if none."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name not in _IMPORTERS or not call.args:
        return ""

    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    constants = [value.value for value in values if isinstance(value, ast.Constant)]
    texts = [text for text in constants if isinstance(text, str)]
    first = call.args[0]
    if not isinstance(first, ast.Constant) or not texts or texts[0] != first.value:
        return ""

    module = texts[0]
    inner = module.lstrip(".")
    level = len(module) - len(inner)
    if not level:
        if module.replace(".", "").isidentifier():
            return module

        return ""
    if len(texts) > 1:
        package = texts[1].split(".")
        return ".".join((*package[: len(package) - level + 1], inner))

    return _relative(folders, level, inner)


def _without_registry(name: str) -> str:
    """Return the name of a package without where it comes from: `npm:lodash@4/fp`."""
    plain, number = _REGISTRY.subn("", name)
    if number:
        return _VERSION.sub("", plain, count=1)

    return name


def _script_names(path: str, statement: str) -> list[str]:
    """Return what a statement or call of a script imports."""
    statement = _BLOCK_COMMENT.sub("", statement)
    if statement.startswith(("import(", "require")):
        quoted = _QUOTED.findall(statement)[:1]
    else:
        quoted = _QUOTED.findall(_ATTRIBUTES.sub("", statement))[-1:]

    names = [_without_registry(name) for name in quoted]
    if not names or not names[0].startswith("."):
        return names

    file = f"/{posixpath.normpath(posixpath.join(posixpath.dirname(path), names[0]))}"
    return list(dict.fromkeys((file, _SCRIPT_ENDING.sub("", file))))


def _other(
    path: str, text: str, language: str, types: bool
) -> Iterator[tuple[list[str], int, int]]:
    if path.rpartition(".")[2].lower() in _SCRIPTS_IN_PAGES:
        text, language = _script_in(path, text)

    for node in parsed(text, language).find_all(config={"rule": RULES[language]}):
        statement, span = node.text(), node.range()
        if not types and _TYPES.match(statement):
            continue

        if language in _SCRIPTS:
            names = _script_names(path, statement)
        else:
            names = _QUOTED.findall(statement)[-1:] or _names(statement)
        if language == "ruby" and statement.startswith("require_relative"):
            names = [posixpath.join("/", posixpath.dirname(path), name) for name in names]

        if names:
            yield names, span.start.index, span.end.index


def _names(statement: str) -> list[str]:
    """Return what a statement without quotes imports: `use a::{b, c};` names `a`'s `b` and `c`."""
    body = _KEYWORDS.sub("", statement, count=1)
    body = _ALIAS.sub("", body)
    head, brace, members = body.partition("{")
    if not brace:
        return [
            _RENAMED.sub("", body).strip().removesuffix(".*").removesuffix("::*").removesuffix("._")
        ]

    parts = (_RENAMED.sub("", part).strip(" {}\n") for part in members.rstrip("}; \n").split(","))
    return [head.strip() + part for part in parts]
