"""Facts of a project: its tracked files, where its commands are defined, how its code is laid out."""

import posixpath
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import PurePosixPath

from orbit_registry.errors import GitError, OrbitError
from orbit_registry.hook.call import path_words
from orbit_registry.hook.purpose import (
    ACTIONS,
    RUNNERS,
    SHELLS,
    TOOLS,
    WITH_VALUE,
    WRAPPERS,
    name_of,
    program_at,
    purpose_of,
    script_of,
)
from orbit_registry.operations.freshness.fingerprints import Fingerprints
from orbit_registry.workspace.files import inside, read_bytes
from orbit_registry.workspace.workspace import Workspace

PURPOSE_PHRASES = {
    "test": "Tests run", "lint": "The linter runs", "types": "Types are checked", "build": "The project is built",
    "format": "Code is formatted", "install": "Dependencies are installed", "generate": "Code is generated",
    "migrate": "The database is migrated", "start": "Services start",
}  # fmt: skip
_WRAPPER_WORDS = frozenset(word for phrase in WRAPPERS for word in phrase.split())
_VERBS = frozenset(("run", "compose", "pip"))  # words of a runner before its script
_PARTS = frozenset(
    ("-w", "--workspace", "-F", "--filter", "-C", "--prefix", "-p", "-pl", "--package", "--project", "--manifest-path",
     "--cwd", "--directory")
)  # fmt: skip
"""Options of a runner that name a part of the project."""
_OUTSIDE = ("/", "~", "$")  # how the folder of an option begins that may be outside the project
_CLIENTS = frozenset(("psql", "mysql", "sqlite3", "redis-cli", "mongosh", "python", "ruby", "node", "php", "sbt"))
"""Runners that are given no word of their own, but a file, a query or a task of any form."""
_DROPPED = frozenset(("env", "time", "nice", "sudo"))  # wrappers that change nothing about what a command needs
_FILTERS = frozenset(["tail", "head", "grep", "cat", "tee", "less", "sed", "awk", "sort", "uniq", "wc", "cut"])
_NEUTRAL = frozenset(("cd", "echo", "sleep", "set", "pwd", "true", "which", "ls", "cat", "printf", "date", "clear"))
"""Programs that leave the meaning of a line to its other commands."""
_SCRIPT = re.compile(r":?[a-zA-Z]{1,20}(?:[:_.-][a-zA-Z0-9]{1,20}){0,2}\Z")
_PLACE = re.compile(r"(?:\./)?[\w.-]{1,30}(?:/[\w.-]{1,30}){0,3}/\Z")
_FOLDER = re.compile(r"(?!\.\.)[\w.-]{1,30}(?:/(?!\.\.)[\w.-]{1,30}){0,3}\Z")
_SETTING = re.compile(r"([A-Z][A-Z0-9_]{1,30})=(0|1|true|false|\.|src|lib|test)\Z")
_ANY_SETTING = re.compile(r"([A-Za-z_]\w*)=")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{1,40}\Z")
_ENVIRONMENT = re.compile(r"(?:(?:[\w.-]{1,20}/){1,3}bin/activate|\.env(?:\.[a-z]{1,12})?)\Z")
_OF_THE_MACHINE = frozenset(("HOME", "PWD", "TMPDIR"))
_FLAG = re.compile(r"(?:--?|\+)[a-zA-Z][\w.-]{0,30}\Z")
_STARTERS = frozenset(("service", "systemctl", "brew", "docker", "podman"))
_STARTING = _STARTERS | {"services", "start", "restart", "run", "-d"}
_SERVICES = frozenset(
    ("postgres", "postgresql", "mysql", "mariadb", "redis", "redis-server", "mongo", "mongod", "rabbitmq", "kafka",
     "elasticsearch", "opensearch", "memcached", "minio", "localstack", "docker")
)  # fmt: skip
"""Services that a command may start which is not the project's own."""
_NUMBER = re.compile(r"\d?>&?\d?\Z")
_MARKS = frozenset("|&;()")
_PLAIN = re.compile(r"@?[A-Za-z0-9][\w.-]{0,30}(?:/(?!\.\.)[\w.-]{1,30}){0,4}\Z")


@dataclass(frozen=True, slots=True)
class ProjectCommand:
    """Command of a project: `words` start it, `tool` does it, `script` is what a runner was given.

    `names` are words in it that only the project knows: a service, a group, a variable whose value is left out.
    """

    purpose: str
    words: str
    tool: str
    script: str = ""
    names: tuple[str, ...] = ()
    folder: str = ""
    arguments: tuple[str, ...] = field(default=(), compare=False)
    """Options with their values, paths and parts of the project: each may be what made it work."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Commands of one line; the exit code of a piped one, or of one before `;`, is not that of its commands."""

    ways: tuple[ProjectCommand, ...]
    is_piped: bool = False


def read_command(text: str, root: str = "") -> CommandLine:
    """Return the commands of a line; none where it holds a program that is not known."""
    try:
        text = text[1:-1] if text[:1] + text[-1:] == "()" else text
        lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return CommandLine(())
    if any(word and set(word) <= _MARKS and word not in ("|", "&&", ";", "&") for word in words):
        return CommandLine(())
    ways: list[ProjectCommand] = []
    prefix: list[str] = []
    names: list[str] = []
    folder, hides_code = "", words[-1:] == ["&"]
    for mark, piece in _pieces(words):
        hides_code |= bool(ways) and mark in ("|", ";", "&")
        program = piece[0]
        if mark == "|":
            if program not in _FILTERS:
                return CommandLine(())
        elif program == "cd" and len(piece) == 2:
            if (path := _folder(folder, piece[1], root)) is None:
                return CommandLine(())
            folder = path
        elif program == "export" or all(map(_ANY_SETTING.match, piece)):
            settings = _settings(piece[program == "export" :])
            prefix, names = prefix + settings[0], names + settings[1]
        elif program in ("source", ".") and len(piece) == 2 and _ENVIRONMENT.match(piece[1]):
            prefix = [f"source {piece[1]} &&", *prefix]
        elif (way := _project_command(_from_root(piece, root) if not folder else piece)) is not None:
            command = " ".join([*prefix, way.words])
            ways.append(replace(way, words=command, names=(*names, *way.names), folder=folder))
        elif program not in _NEUTRAL:
            return CommandLine(())
    return CommandLine(tuple(ways), hides_code)


def _folder(folder: str, path: str, root: str) -> str | None:
    """Return the folder, from the root, that `cd` leads to; nothing if it may be outside the project."""
    top = root or "/-"
    result = posixpath.relpath(posixpath.join(top, folder, path), top)
    if result == ".":
        return ""
    return result if _FOLDER.match(result) and (root or path[:1] != "/") else None


def _from_root(words: Sequence[str], root: str) -> list[str]:
    """Return the words of a command with the folder of a part from the root; the root itself is no part."""
    result: list[str] = []
    separate = (word.split("=", 1) if word.partition("=")[0] in _PARTS else [word] for word in words)
    for option, word in pairwise(("", *chain.from_iterable(separate))):
        path = _folder("", word, root) if option in _PARTS and word.startswith(("/", "./")) else None
        if path == "":
            result.pop()
        else:
            result.append(path or word)
    return result


def _settings(words: Iterable[str]) -> tuple[list[str], list[str]]:
    settings: list[str] = []
    names: list[str] = []
    for word in words:
        name = word.partition("=")[0]
        if _SETTING.match(word):
            settings.append(word)
        elif "=" in word and _VARIABLE.match(name) and name not in _OF_THE_MACHINE:
            settings.append(f"{name}=…")
            names.append(name)
    return settings, names


def _pieces(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    piece: list[str] = []
    mark, skip = "", False
    for word in words:
        if skip:
            skip = False
        elif _NUMBER.match(word) or word in (">", ">>", "<", ">&", "&>"):
            skip = not word.endswith(("&1", "&2"))
        elif word and set(word) <= _MARKS:
            if piece:
                yield mark, piece
            mark, piece = word, []
        else:
            piece.append(word)
    if piece:
        yield mark, piece


def _project_command(words: Sequence[str]) -> ProjectCommand | None:
    position = 0
    while position < len(words) and _ANY_SETTING.match(words[position]):
        position += 1
    prefix, names = _settings(words[:position])
    command = words[position + (words[position : position + 1] == ["sudo"]) :]
    if name_of((command or [""])[0]) in _STARTERS and (way := _service_command(command)) is not None:
        return way
    start = program_at(command)
    if start >= len(command) or not _take_prefix(command[:start], prefix, names):
        return None
    raw = command[start]
    name = _name(raw)
    if name is None or (prefix[-1:] == ["-m"] and raw != name):
        return None
    purpose = purpose_of(command)
    if name in TOOLS:
        action = [word for word in command[start + 1 : start + 2] if word in ACTIONS.get(name, ())]
        arguments = tuple(_arguments(command[start + 1 + len(action) :]))
        return ProjectCommand(purpose, " ".join([*prefix, raw, *action]), name, "", tuple(names), "", arguments)
    file = command[start + 1] if name in SHELLS and len(command) > start + 1 else raw
    if file.endswith(".sh") and purpose and _FOLDER.match(file := file.removeprefix("./")):
        return ProjectCommand(purpose, " ".join([*prefix, f"./{file}"]), file, "", tuple(names))
    if prefix[-1:] == ["-m"] and _PLAIN.match(name):
        return ProjectCommand(f"python -m {name}", " ".join([*prefix, name]), "python", name, (*names, name))
    if name not in RUNNERS:
        return None
    return _runner_command(command[start:], name, purpose, prefix, names)


def _runner_command(
    words: Sequence[str], name: str, purpose: str, prefix: list[str], names: list[str]
) -> ProjectCommand | None:
    """Return what a runner is given; without a purpose of the table, the program with its script is one."""
    script = script_of(words) if name not in _CLIENTS else ""
    position = words.index(script) if script else 0
    if not _SCRIPT.match(script):
        if purpose or "run" in words[:position]:
            return None
        script = ""
    verbs = ["-s"] if name == "nox" else [word for word in words[:position] if word in _VERBS]
    if name.startswith("docker"):
        if not purpose:
            return None
        details = ["-d"] if "-d" in words else []
        details += (parts := [word for word in words[position + 1 :] if _PLAIN.match(word)])
        arguments = []
    else:
        pairs = [pair for pair in pairwise(words) if pair[0] in _PARTS and _PLAIN.match(pair[1])]
        details, parts = [word for pair in pairs for word in pair], [value for _, value in pairs]
        arguments = [argument for argument in _arguments([*words[1:position], *words[position + 1 :]])
                     if argument.partition(" ")[0] not in _PARTS]  # fmt: skip
    options = [*pairwise(words), *(word.partition("=")[::2] for word in words)]
    if any(option in _PARTS and value.startswith(_OUTSIDE) for option, value in options):
        return None
    line = [*prefix, words[0], *verbs, *filter(None, (script,)), *details]
    own = f"{name} {script}".strip()
    return ProjectCommand(purpose or own, " ".join(line), name, script, (*names, *parts), "", tuple(arguments))


def _arguments(words: Sequence[str]) -> Iterator[str]:
    """Yield options, with a value that is a plain word, and operands that may be a path or a part of the project."""
    value_of = ""
    for word, following in pairwise([*words, ""]):
        option, has_value, value = word.partition("=")
        if value_of:
            value_of = ""
        elif word[:1] not in "-+":
            if _PLAIN.match(word.removeprefix("./").removesuffix("/...")):
                yield word
        elif _FLAG.match(option) and not has_value:
            value_of = following if _PLAIN.match(following) and (word in WITH_VALUE or word[:2] == "--") else ""
            yield f"{word} {value_of}".strip()
        elif _FLAG.match(option) and _PLAIN.match(value):
            yield word


def _service_command(words: Sequence[str]) -> ProjectCommand | None:
    plain = [word.rpartition("/")[2].partition(":")[0].partition("@")[0] for word in words]
    plain = [word for word in plain if word in _STARTING or word in _SERVICES]
    starts = {"start", "restart", "-d"}.intersection(plain) and _SERVICES.intersection(plain[1:])
    return ProjectCommand("start", " ".join(plain), plain[0]) if starts and "compose" not in words else None


def _take_prefix(words: Sequence[str], prefix: list[str], names: list[str]) -> bool:
    value_follows = False
    for position, word in enumerate(words):
        if value_follows or word[:1] != "-":
            setting = _settings([word]) if _ANY_SETTING.match(word) else None
            plain = _name(word) is not None if position == 0 else bool(_PLAIN.match(word)) or setting is not None
            if not plain:
                return False
            if setting is not None:
                prefix += setting[0]
                names += setting[1]
            elif word not in _DROPPED:
                prefix.append(word)
                if name_of(word) not in _WRAPPER_WORDS or value_follows:
                    names.append(word)
            value_follows = False
        elif word == "-m":
            prefix.append(word)
        elif word in WITH_VALUE:
            prefix.append(word)
            value_follows = True
    return True


def _name(word: str) -> str | None:
    folder, slash, name = word.rpartition("/")
    return name if not slash or (_PLACE.match(f"{folder}/") and ".." not in folder) else None


LARGEST = 1_000_000
MOST_NAMES = 500  # names that are looked for in the files of a project
MOST_READ = 60  # files of one suffix that are read to tell how imports are written
FEWEST, SHARE = 5, 0.9  # a habit needs so many files, and nine of ten
_TOOL_INPUTS = {
    "pytest": ("pyproject.toml#tool.pytest", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"),
    "mypy": ("pyproject.toml#tool.mypy", "mypy.ini", "setup.cfg", "pyproject.toml"),
    "ruff": ("pyproject.toml#tool.ruff", "ruff.toml", ".ruff.toml", "pyproject.toml"),
    "tsc": ("tsconfig.json", "package.json"), "eslint": ("eslint.config.js", "eslint.config.mjs", "package.json"),
    "jest": ("jest.config.js", "jest.config.ts", "package.json#jest", "package.json"),
    "vitest": ("vitest.config.ts", "vite.config.ts", "package.json"), "tox": ("tox.ini", "pyproject.toml"),
    "cargo": ("Cargo.toml",), "go": ("go.mod",), "mvn": ("pom.xml",), "mvnw": ("pom.xml",), "mix": ("mix.exs",),
    **dict.fromkeys(
        ("gradle", "gradlew"), ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
    ),
    "composer": ("composer.json",), "rspec": ("Gemfile",), "deno": ("deno.json",), "swift": ("Package.swift",),
    "rake": ("Rakefile",),
}  # fmt: skip
_SCRIPT_FILES = {
    "make": (("Makefile", "makefile", "GNUmakefile"), r"(?m)^{}[ \t]*:"),
    "just": (("justfile", "Justfile"), r"(?m)^@?{}\b[^:=\n]*:"),
    "nox": (("noxfile.py",), r"(?m)^def {}\(|name=[\"']{}[\"']"),
    "task": (("Taskfile.yml", "Taskfile.yaml"), r"(?m)^  {}:"),
}
_MANIFESTS = ("Cargo.toml", "package.json", "pyproject.toml", "go.mod")
_PACKAGES = ("npm", "pnpm", "yarn", "bun")
_ANY = ("pyproject.toml", "package.json", "setup.cfg", "Cargo.toml", "go.mod", "Gemfile")
_VARIABLES = frozenset(
    ("CI", "PATH", "NODE_ENV", "NODE_OPTIONS", "PYTHONPATH", "MYPYPATH", "JAVA_HOME", "GOFLAGS", "RUSTFLAGS",
     "RAILS_ENV", "DJANGO_SETTINGS_MODULE", "DATABASE_URL", "TZ", "LANG")
)  # fmt: skip
"""Variables that programs read, whatever the project."""
_PYTHON_OWN = re.compile(r"(?m)^(?:from (\.+)[\w.]* import|from (\w+)(?:\.[\w.]+)? import|import (\w+))")
_SCRIPT_OWN = re.compile(r"""(?m)^\s*(?:import|export)\b[^'"\n]*['"](\.{1,2}/[^'"\n]+|[@~]/[^'"\n]+)['"]""")
_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs")
_DEFINES = r"^[[:space:]]*(export )?(default )?(abstract |async |pub )*(class|interface|type|enum|struct|trait|def|func|fn|function|const) {}([^A-Za-z0-9_]|$)"  # noqa: E501


class Project:
    """Files of a workspace, each read once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._texts: dict[str, str] = {}
        self._mentioned: dict[str, bool] = {}

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

    def inputs_of(self, way: ProjectCommand) -> tuple[str, ...]:
        """Return the input that defines a command; empty if the project has no such command."""
        if way.tool.endswith(".sh"):
            return (way.tool,)
        if way.tool in _SCRIPT_FILES:
            names, form = _SCRIPT_FILES[way.tool]
            definition = re.compile(form.replace("{}", re.escape(way.script)))
            files = [path for path in _in_or_above(way.folder, names) if path in self.files]
            return tuple(path for path in files if definition.search(self.text(path)))[:1]
        inputs = _TOOL_INPUTS.get(way.tool, _ANY)
        if way.tool in _PACKAGES:
            is_install = way.script in ("install", "ci") and " run " not in way.words
            inputs = ("package.json" if is_install else f"package.json#scripts.{way.script}",)
        sources = _in_or_above(way.folder, inputs)
        if way.tool in _PACKAGES and way.names:  # a part of the project, which its name does not lead to
            sources += [f"{path}#scripts.{way.script}" for path in self.tracked if path.endswith("/package.json")]
        return next(((source,) for source in sources if self._inputs.find(source).hash is not None), ())

    def defines(self, way: ProjectCommand) -> bool:
        """Say whether the project has a command: a script is defined in its files, a program is one of the tables."""
        return bool(self.inputs_of(way)) or not (way.tool in _SCRIPT_FILES or way.tool in _PACKAGES)

    @staticmethod
    def is_script(way: ProjectCommand) -> bool:
        """Say whether a command starts what the project's files define: a target of make, a script of a package."""
        is_check = way.purpose in ("test", "lint", "types", "format")
        return not is_check and (way.tool in _SCRIPT_FILES or way.tool in _PACKAGES)

    @staticmethod
    def is_alike(bad: ProjectCommand, good: ProjectCommand) -> bool:
        """Say whether two commands start the same program or script."""
        tools = {bad.tool, good.tool}
        return bad.script == good.script and (len(tools) == 1 or tools.issubset(_PACKAGES))

    def has_path(self, text: str) -> bool:
        """Say whether a text names a tracked file or a folder of them, perhaps as gradle writes it."""
        path = text.removeprefix("./").removesuffix("...").strip("/")
        return path in self.files or any(file.startswith(f"{path}/") for file in self.tracked)

    @property
    def root(self) -> str:
        """The project's folder."""
        return str(self._workspace.root)

    def known(self, way: ProjectCommand) -> ProjectCommand | None:
        """Return a command without variables that the project's files don't name; None for another name or folder."""
        if way.tool.endswith(".sh") and way.tool not in self.files:
            return None
        if way.folder and not self.has_path(way.folder):
            return None
        words, names = way.words, []
        for name in way.names:
            if name in _VARIABLES or self.has_module(name) or self.mentions(name):
                names.append(name)
            elif f"{name}=… " in words:
                words = words.replace(f"{name}=… ", "")
            else:
                return None
        return replace(way, words=words, names=tuple(names))

    def mentions(self, word: str) -> bool:
        """Say whether a tracked file, other than a text, holds a word."""
        if word not in self._mentioned and len(self._mentioned) < MOST_NAMES:
            self._mentioned[word] = bool(
                self._workspace.git.ask("grep", "-lwF", "-e", word, "--", ":!*.md", ":!.orbit")
            )
        return self._mentioned.get(word, False)

    def paths_in(self, sentence: str) -> tuple[str, ...]:
        """Return globs of the files and folders that a sentence names."""
        globs = []
        for word in path_words(sentence.replace("`", " ")):
            path = word.strip("/")
            if self.has_path(path):
                globs.append(path if path in self.files else f"{path}/**")
        return tuple(dict.fromkeys(globs))[:5]

    def has_name(self, name: str) -> bool:
        """Say whether a name in an error is a program of the tables, a port, or one that the project's files hold."""
        is_program = name in TOOLS or name in RUNNERS or name.isdigit() or name in _MANIFESTS
        return is_program or self.has_module(name) or (bool(_VARIABLE.match(name)) and self.mentions(name))

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
        counts = {
            "next to it": sum(str(path) in self.files for path in sources),
            f"in `{top}/`": sum(path.parts[0] == top for path in tests),
        }
        for folder, count in counts.items():
            if len(tests) >= FEWEST and count >= SHARE * len(tests):
                return f"The test of `NAME{suffix}` is {folder}, as `{example}`.", count
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


def _in_or_above(folder: str, names: Iterable[str]) -> list[str]:
    return [*(f"{folder}/{name}" for name in names if folder), *names]


def _habit(count: Counter[str]) -> str:
    most = count.most_common(1)
    return most[0][0] if most and most[0][1] >= FEWEST and most[0][1] >= SHARE * count.total() else ""


def _script_styles(text: str) -> Iterator[str]:
    for specifier in set(_SCRIPT_OWN.findall(text)):
        ending = PurePosixPath(specifier).suffix
        if specifier[0] != ".":
            yield "by an alias (`@/` or `~/`)"
        else:
            yield f"with `{ending}` at the end" if ending in _SCRIPTS else "without an ending"
