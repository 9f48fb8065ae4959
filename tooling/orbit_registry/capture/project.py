"""Facts of a project: its tracked files, where its commands are defined, how its code is laid out.

Capture writes down only its own words and what stands in these files.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath

from orbit_registry.errors import GitError, OrbitError
from orbit_registry.operations.freshness.fingerprints import Fingerprints
from orbit_registry.workspace.files import inside, read_bytes
from orbit_registry.workspace.workspace import Workspace

_PURPOSES = {
    "test": "test tests spec specs unit units e2e integration pytest jest vitest nextest",
    "lint": "lint lints linter check checks eslint ruff clippy vet",
    "types": "types type typecheck typing tsc mypy pyright",
    "build": "build compile bundle dist",
    "format": "format fmt prettier black",
    "install": "install setup bootstrap sync ci",
}
PURPOSE = {word: purpose for purpose, words in _PURPOSES.items() for word in words.split()}
PURPOSE_PHRASES = {
    "test": "Tests run", "lint": "The linter runs", "types": "Types are checked", "build": "The project is built",
    "format": "Code is formatted", "install": "Dependencies are installed",
}  # fmt: skip
_TOOLS = {
    tool: purpose
    for purpose, tools in {
        "test": "pytest py.test unittest nose2 jest vitest mocha ava rspec phpunit ctest tox",
        "types": "mypy pyright tsc pyrefly",
        "lint": "ruff eslint flake8 pylint golangci-lint shellcheck biome oxlint",
        "format": "black prettier isort gofmt rustfmt",
        "build": "webpack rollup esbuild tsup",
    }.items()
    for tool in tools.split()
}
_RUNNERS = frozenset(
    ("npm", "pnpm", "yarn", "bun", "make", "just", "nox", "task", "rake", "cargo", "go", "mvn", "mvnw", "gradle",
     "gradlew", "dotnet", "mix", "deno", "composer", "swift")
)  # fmt: skip
_WRAPPERS = {
    "uv": ("run",), "poetry": ("run",), "pdm": ("run",), "hatch": ("run",), "pipenv": ("run",), "rye": ("run",),
    "bundle": ("exec",), "pnpm": ("exec", "dlx"), "yarn": ("exec", "dlx"), "npm": ("exec",), "npx": (), "bunx": (),
}  # fmt: skip
_FILTERS = frozenset(["tail", "head", "grep", "cat", "tee", "less", "sed", "awk", "sort", "uniq", "wc", "cut"])
_PYTHON = re.compile(r"(?:python|python3(?:\.\d{1,2})?|py)\Z")
_SCRIPT = re.compile(r"[a-z]{1,12}(?:[:_-][a-z0-9]{1,12}){0,2}\Z")
_PLACE = re.compile(r"(?:\./)?[\w.-]{1,30}(?:/[\w.-]{1,30}){0,3}/\Z")
_SETTING = re.compile(r"([A-Z][A-Z0-9_]{1,30})=(0|1|true|false|\.|src|lib|test)\Z")
_ANY_SETTING = re.compile(r"[A-Za-z_]\w*=")
_NUMBER = re.compile(r"\d?>&?\d?\Z")


@dataclass(frozen=True, slots=True)
class ProjectCommand:
    """Command of a project: `words` start it, `tool` does it, `script` is what a runner was given."""

    purpose: str
    words: str
    tool: str
    script: str = ""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Commands of one line; the exit code of a piped line is not that of the last command."""

    ways: tuple[ProjectCommand, ...]
    is_piped: bool = False


def read_command(text: str) -> CommandLine:
    """Return the commands of a line; none where it is more than known programs joined by `&&`."""
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return CommandLine(())
    pieces = list(_pieces(words))
    if any(mark in ("||", ";", "&", "(", ")") for mark, _ in pieces):
        return CommandLine(())
    ways: list[ProjectCommand] = []
    piped = other = 0
    for mark, piece in pieces:
        if mark == "|":
            piped += 1
            other += piece[0] not in _FILTERS
        elif piece[0] == "cd":
            continue
        elif (way := project_command(piece)) is not None:
            ways.append(way)
        else:
            other += 1
    return CommandLine(() if other else tuple(ways), is_piped=piped > 0)


def _pieces(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of a line, each with the operator before it; redirections are left out."""
    piece: list[str] = []
    mark, skip = "", False
    for word in words:
        if skip:
            skip = False
        elif _NUMBER.match(word) or word in (">", ">>", "<", ">&", "&>"):
            skip = not word.endswith(("&1", "&2"))
        elif word and set(word) <= set("|&;()"):
            if piece:
                yield mark, piece
            mark, piece = word, []
        else:
            piece.append(word)
    if piece:
        yield mark, piece


def project_command(words: Sequence[str]) -> ProjectCommand | None:
    """Return one command; None where its program, script or environment setting is unknown."""
    remaining = list(words)
    prefix: list[str] = []
    while remaining and _ANY_SETTING.match(remaining[0]):
        if not _SETTING.match(remaining[0]):
            return None
        prefix.append(remaining.pop(0))
    while remaining and (verbs := _WRAPPERS.get(remaining[0])) is not None:
        if verbs and not {*remaining[1:2]} & {*verbs}:
            break
        count = 2 if verbs else 1
        prefix += remaining[:count]
        del remaining[:count]
    if len(remaining) > 2 and _PYTHON.match(_name(remaining[0]) or "") and remaining[1] == "-m":
        prefix += [remaining[0], "-m"]
        del remaining[:2]
    name = _name(remaining[0]) if remaining else None
    if name is None or (prefix[-1:] == ["-m"] and remaining[0] != name):
        return None
    arguments = [word for word in remaining[1:] if not word.startswith("-")]
    if name in _TOOLS:
        action = [word for word in arguments[:1] if name in ("ruff", "biome") and word in ("check", "format", "lint")]
        purpose = "format" if action == ["format"] else _TOOLS[name]
        return ProjectCommand(purpose, " ".join([*prefix, remaining[0], *action]), name)
    return _script(name, remaining, arguments, prefix) if name in _RUNNERS else None


def _script(name: str, command: Sequence[str], arguments: list[str], prefix: Sequence[str]) -> ProjectCommand | None:
    runs = ["run"] if arguments[:1] == ["run"] else []
    flags = ("-s", "-e", "--session", "--sessions")
    flagged = [following for word, following in pairwise(command[1:]) if word in flags]
    script = next(iter(flagged if name == "nox" else arguments[len(runs) :]), "")
    if not _SCRIPT.match(script):
        return None
    purpose = next((PURPOSE[part] for part in re.split("[:_-]", script) if part in PURPOSE), None)
    if purpose is None:
        return None
    words = [*prefix, command[0], *(["-s"] if name == "nox" else runs), script]
    return ProjectCommand(purpose, " ".join(words), name, script)


def _name(word: str) -> str | None:
    """Return the program that a word starts; None for one outside of the project."""
    folder, slash, name = word.rpartition("/")
    return name if not slash or (_PLACE.match(f"{folder}/") and ".." not in folder) else None


LARGEST = 1_000_000
MOST_READ = 60
"""Files of one suffix that are read to tell how imports are written."""
FEWEST, SHARE = 5, 0.9
"""A habit needs so many files, and nine of ten."""
_TOOL_INPUTS = {
    "pytest": ("pyproject.toml#tool.pytest", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"),
    "mypy": ("pyproject.toml#tool.mypy", "mypy.ini", "setup.cfg", "pyproject.toml"),
    "ruff": ("pyproject.toml#tool.ruff", "ruff.toml", ".ruff.toml", "pyproject.toml"),
    "tsc": ("tsconfig.json", "package.json"), "eslint": ("eslint.config.js", "eslint.config.mjs", "package.json"),
    "jest": ("jest.config.js", "jest.config.ts", "package.json#jest", "package.json"),
    "vitest": ("vitest.config.ts", "vite.config.ts", "package.json"), "tox": ("tox.ini", "pyproject.toml"),
    "cargo": ("Cargo.toml",), "go": ("go.mod",), "mvn": ("pom.xml",), "mvnw": ("pom.xml",), "mix": ("mix.exs",),
    "gradle": ("build.gradle", "build.gradle.kts"), "gradlew": ("build.gradle", "build.gradle.kts"),
    "composer": ("composer.json",), "deno": ("deno.json",), "swift": ("Package.swift",), "rake": ("Rakefile",),
}  # fmt: skip
_SCRIPT_FILES = {
    "make": (("Makefile", "makefile", "GNUmakefile"), r"(?m)^{}[ \t]*:"),
    "just": (("justfile", "Justfile"), r"(?m)^@?{}\b[^:=\n]*:"),
    "nox": (("noxfile.py",), r"(?m)^def {}\(|name=[\"']{}[\"']"),
    "task": (("Taskfile.yml", "Taskfile.yaml"), r"(?m)^  {}:"),
}
_PACKAGES = ("npm", "pnpm", "yarn", "bun")
_ANY = ("pyproject.toml", "package.json", "setup.cfg", "Cargo.toml", "go.mod")
_PYTHON_OWN = re.compile(r"(?m)^(?:from (\.+)[\w.]* import|from (\w+)(?:\.[\w.]+)? import|import (\w+))")
_SCRIPT_OWN = re.compile(r"""(?m)^\s*(?:import|export)\b[^'"\n]*['"](\.{1,2}/[^'"\n]+|[@~]/[^'"\n]+)['"]""")
_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs")
_DEFINES = r"^[[:space:]]*(export )?(default )?(abstract |async |pub )*(class|interface|type|enum|struct|trait|def|func|fn|function|const) {}([^A-Za-z0-9_]|$)"  # noqa: E501


class Project:
    """Files of a workspace, each read once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._texts: dict[str, str] = {}
        self._grounds: dict[ProjectCommand, tuple[str, ...]] = {}

    @cached_property
    def tracked(self) -> list[str]:
        """Tracked files from the root, sorted; empty if git fails."""
        try:
            return self._workspace.git.tracked() or []
        except GitError:
            return []

    @cached_property
    def files(self) -> frozenset[str]:
        """Tracked files as a set."""
        return frozenset(self.tracked)

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of tracked files and folders without extension: what a module may be called."""
        return frozenset(part.partition(".")[0] for path in self.tracked for part in path.split("/"))

    @cached_property
    def _inputs(self) -> Fingerprints:
        return Fingerprints(self._workspace.root, self.tracked)

    def text(self, path: str) -> str:
        """Return a file's text; empty if it can't be read."""
        if path not in self._texts:
            try:
                content = read_bytes(inside(self._workspace.root, path), limit=LARGEST)
            except OrbitError:
                content = b""
            self._texts[path] = content.decode("utf-8", "replace")
        return self._texts[path]

    def has_input(self, text: str) -> bool:
        """Say whether an input can be hashed."""
        return self._inputs.find(text).hash is not None

    def inputs_of(self, way: ProjectCommand) -> tuple[str, ...]:
        """Return the inputs that define a command; empty if the project has no such command."""
        if way not in self._grounds:
            self._grounds[way] = tuple(self._find_inputs(way))
        return self._grounds[way]

    def _find_inputs(self, way: ProjectCommand) -> Iterator[str]:
        if way.tool in _SCRIPT_FILES:
            names, form = _SCRIPT_FILES[way.tool]
            definition = re.compile(form.replace("{}", re.escape(way.script)))
            yield from [path for path in names if path in self.files and definition.search(self.text(path))][:1]
        elif way.tool in _PACKAGES:
            field = f"package.json#scripts.{way.script}"
            is_install = way.script in ("install", "ci") and " run " not in way.words
            yield from [source for source in ("package.json" if is_install else field,) if self.has_input(source)]
        else:
            yield from [source for source in _TOOL_INPUTS.get(way.tool, _ANY) if self.has_input(source)][:1]

    def has_module(self, name: str) -> bool:
        """Say whether a module is the project's own."""
        return name.partition(".")[0].partition("/")[0] in self.names

    def definition(self, name: str) -> str:
        """Return the one tracked file that defines a name; empty if none or several do."""
        output = self._workspace.git.ask("grep", "-lE", "-e", _DEFINES.replace("{}", name), "--", ":!*.md") or ""
        paths = output.split("\n") if output else []
        return paths[0] if len(paths) == 1 and paths[0] in self.files else ""

    def imports(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return a sentence on how files like one import the project's own, and its inputs; empty without a habit."""
        suffix = PurePosixPath(path).suffix
        top = path.partition("/")[0]
        if suffix != ".py" and suffix not in _SCRIPTS:
            return "", ()
        styles_in, start, names = (
            (self._python_styles, f"Python files in `{top}/` import each other", ("pyproject.toml", "setup.cfg"))
            if suffix == ".py" else
            (_script_styles, f"Imports in `{top}/` name the project's own files",
             ("tsconfig.json", "jsconfig.json", "package.json"))
        )  # fmt: skip
        alike = [file for file in self.tracked if file.endswith(suffix) and file.partition("/")[0] == top]
        style = _habit(Counter(word for file in alike[:MOST_READ] for word in styles_in(self.text(file))))
        inputs = tuple(file for file in names if file in self.files)[:1]
        return (f"{start} {style}.", inputs) if style else ("", ())

    def _python_styles(self, text: str) -> Iterable[str]:
        absolute, relative = "by their whole names, not relatively", "relatively, with leading dots"
        matches = _PYTHON_OWN.findall(text)
        return {relative if dots else absolute for dots, *names in matches if dots or self.has_module(max(names))}

    def test_place(self, source: str, test: str) -> tuple[str, int]:
        """Return a sentence on where tests of such files are, and their number; empty without a habit."""
        stem, suffix = PurePosixPath(source).stem, PurePosixPath(source).suffix
        name = PurePosixPath(test).name
        form = name.replace(stem, "{}", 1)
        if stem not in name or form == "{}" + suffix:
            return "", 0
        tests = [
            PurePosixPath(file)
            for file in self.tracked
            if re.fullmatch(re.escape(form).replace(r"\{\}", ".+"), PurePosixPath(file).name)
        ]
        top, example = PurePosixPath(test).parts[0], form.replace("{}", "NAME")
        before, _, after = form.partition("{}")
        sources = (path.with_name(path.name.removeprefix(before).removesuffix(after) + suffix) for path in tests)
        places = {
            "beside it": sum(str(path) in self.files for path in sources),
            f"in `{top}/`": sum(path.parts[0] == top for path in tests),
        }
        for place, count in places.items():
            if len(tests) >= FEWEST and count >= SHARE * len(tests):
                return f"The test of `NAME{suffix}` stands {place}, as `{example}`.", count
        return "", 0

    def registers(self, added: str, edited: str) -> int:
        """Return how many siblings of a new file another file names; 0 where too few for a habit."""
        added_path, text = PurePosixPath(added), self.text(edited)
        paths = [PurePosixPath(file) for file in self.tracked if file not in (added, edited)]
        near = [path.stem for path in paths if path.parent == added_path.parent]
        near = [stem for stem in near if stem != "__init__" and len(stem) > 2]
        mentioned = [stem for stem in (*near, added_path.stem) if re.search(rf"\b{re.escape(stem)}\b", text)]
        count = len(mentioned) - 1
        return count if mentioned[-1:] == [added_path.stem] and count >= max(3, SHARE * len(near)) else 0


def _habit(count: Counter[str]) -> str:
    """Return what at least nine of ten do; empty if there is no such habit."""
    most = count.most_common(1)
    return most[0][0] if most and most[0][1] >= FEWEST and most[0][1] >= SHARE * count.total() else ""


def _script_styles(text: str) -> Iterator[str]:
    for specifier in set(_SCRIPT_OWN.findall(text)):
        ending = PurePosixPath(specifier).suffix
        if specifier[0] != ".":
            yield "by an alias (`@/` or `~/`)"
        else:
            yield f"with `{ending}` at the end" if ending in _SCRIPTS else "without an ending"
