"""Facts of a project: its tracked files, where its commands are defined,
how its code is laid out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import PurePosixPath

from orbit_loop.capture.command_line import COMMANDS, VARIABLE, ProjectCommand
from orbit_registry.errors import GitError, OrbitError
from orbit_registry.hook.call import path_words
from orbit_registry.hook.purpose import RUNNERS, TOOLS
from orbit_registry.operations.freshness.fingerprints import Fingerprints
from orbit_registry.workspace.files import inside, read_bytes
from orbit_registry.workspace.workspace import Workspace

LARGEST = 1_000_000
MOST_NAMES = 500  # names that are looked for in the files of a project
MOST_READ = 60  # files of one suffix that are read to tell how imports are written
FEWEST, SHARE = 5, 0.9  # a habit needs so many files, and nine of ten
_DEFINITIONS = COMMANDS["definitions"]
_MANIFESTS = ("Cargo.toml", "package.json", "pyproject.toml", "go.mod")
_PACKAGES = ("npm", "pnpm", "yarn", "bun")
_PYTHON_OWN = re.compile(
    r"(?m)^(?:from (\.+)[\w.]* import|from (\w+)(?:\.[\w.]+)? import|import (\w+))"
)
_JAVASCRIPT_OWN = re.compile(
    r"""(?m)^\s*(?:import|export)\b[^'"\n]*['"](\.{1,2}/[^'"\n]+|[@~]/[^'"\n]+)['"]"""
)
_JAVASCRIPT_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs")
_DEFINES = (
    r"^[[:space:]]*(export )?(default )?(abstract |async |pub )*"
    r"(class|interface|type|enum|struct|trait|def|func|fn|function|const) {}([^A-Za-z0-9_]|$)"
)


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
        parts = "/".join(self.tracked).split("/")
        return frozenset(part.partition(".")[0] for part in parts)

    @cached_property
    def _inputs(self) -> Fingerprints:
        return Fingerprints(self._workspace.root, self.tracked, self._workspace.git)

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

        if way.tool in _DEFINITIONS:
            defined = _DEFINITIONS[way.tool]
            definition = re.compile(defined["form"].replace("{}", re.escape(way.script)))
            files = [
                path for path in _in_or_above(way.folder, defined["files"]) if path in self.files
            ]
            return tuple(path for path in files if definition.search(self.text(path)))[:1]

        inputs = COMMANDS["inputs"].get(way.tool, COMMANDS["other_inputs"])
        if way.tool in _PACKAGES:
            is_install = way.script in ("install", "ci") and " run " not in way.words
            inputs = ["package.json" if is_install else f"package.json#scripts.{way.script}"]

        sources = _in_or_above(way.folder, inputs)
        if (
            way.tool in _PACKAGES and way.names
        ):  # a part of the project, which its name does not lead to
            sources += [
                f"{path}#scripts.{way.script}"
                for path in self.tracked
                if path.endswith("/package.json")
            ]

        return next(
            ((source,) for source in sources if self._inputs.find(source).hash is not None), ()
        )

    def defines(self, way: ProjectCommand) -> bool:
        """Say whether the project has a command: a script is defined in its files,
        a program is one of the tables.
        """
        return bool(self.inputs_of(way)) or not (way.tool in _DEFINITIONS or way.tool in _PACKAGES)

    def is_script(self, way: ProjectCommand) -> bool:
        """Say whether a command starts what the project's files define:
        a target of make, a script of a package.
        """
        is_check = way.purpose in ("test", "lint", "types", "format")
        return not is_check and self.is_defined(way)

    @staticmethod
    def is_alike(bad: ProjectCommand, good: ProjectCommand) -> bool:
        """Say whether two commands start the same program or script."""
        tools = {way.tool.removesuffix("w") for way in (bad, good)}  # `gradlew`, `mvnw`
        return bad.script == good.script and (len(tools) == 1 or tools.issubset(_PACKAGES))

    def are_scripts(self, bad: ProjectCommand, good: ProjectCommand) -> bool:
        """Say whether two commands are scripts of one runner that the project tells apart."""
        tools = {bad.tool, good.tool}
        is_one_runner = len(tools) == 1 or tools.issubset(_PACKAGES)
        if bad.script == good.script or not is_one_runner:
            return False

        return self.is_defined(bad) and self.is_defined(good)

    def is_defined(self, way: ProjectCommand) -> bool:
        """Say whether a command is a script that the project's files define."""
        if way.tool in _DEFINITIONS:
            return bool(self.inputs_of(way))

        return way.tool in _PACKAGES and "#scripts." in "".join(self.inputs_of(way))

    def runs(self, way: ProjectCommand, program: str) -> bool:
        """Say whether a command is a script of the project that starts a program."""
        script = self._script_text(way)
        return re.search(rf"(?<![\w-]){re.escape(program)}\b", script) is not None

    def _script_text(self, way: ProjectCommand) -> str:
        """Return what a script of the project runs; empty if it is none."""
        if way.tool in self.files:
            return self.text(way.tool)

        if way.tool in _DEFINITIONS:
            form = _DEFINITIONS[way.tool]["form"].replace("{}", re.escape(way.script))
            head = form.removeprefix("(?m)")
            body = re.compile(rf"(?:{head}).*(?:\n[ \t]+.*)*", re.MULTILINE)
            texts = [self.text(path) for path in self.inputs_of(way)]
        elif way.tool in _PACKAGES:
            body = re.compile(rf'"{re.escape(way.script)}"\s*:\s*"([^"]*)"')
            files = [path.partition("#")[0] for path in self.inputs_of(way)]
            if way.names:  # a part of the project, which its name does not lead to
                files = [path for path in self.tracked if path.endswith("/package.json")]
            texts = [self.text(path) for path in files]
        else:
            return ""

        definition = next(filter(None, map(body.search, texts)), None)
        if definition is not None:
            return definition[0]

        return ""

    def prefers(self, good: ProjectCommand, bad: ProjectCommand) -> bool:
        """Say whether the project's files know one program or script, and not the other."""
        if self.is_defined(bad):
            return False

        knows_good = self.is_defined(good) or self.mentions(good.script or good.tool)
        return knows_good or not self.mentions(bad.script or bad.tool)

    def has_path(self, text: str) -> bool:
        """Say whether a text names a tracked file or a folder of them,
        perhaps as gradle writes it.
        """
        path = text.removeprefix("./").removesuffix("...").strip("/")
        return path in self.files or any(file.startswith(f"{path}/") for file in self.tracked)

    @property
    def root(self) -> str:
        """The project's folder."""
        return str(self._workspace.root)

    def known(self, way: ProjectCommand) -> ProjectCommand | None:
        """Return a command without variables that the project's files don't name;
        None for another name or folder.
        """
        if way.tool.endswith(".sh") and way.tool not in self.files:
            return None
        if way.folder and not self.has_path(way.folder):
            return None

        unknown = frozenset(name for name in way.names if not self._knows(name))
        settings: set[str] = set()
        for part in way.parts:
            if part.is_setting:
                settings.update(part.names)

        if unknown <= settings:
            return way.without_settings(unknown)

        return None

    def _knows(self, name: str) -> bool:
        is_public = name in COMMANDS["known_variables"]
        return is_public or self.has_module(name) or self.mentions(name)

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
        """Say whether a name in an error is a program of the tables, a port,
        or one that the project's files hold.
        """
        is_program = name in TOOLS or name in RUNNERS or name.isdigit() or name in _MANIFESTS
        return (
            is_program
            or self.has_module(name)
            or (bool(VARIABLE.match(name)) and self.mentions(name))
        )

    def has_module(self, name: str) -> bool:
        """Say whether a module is the project's own."""
        return name.partition(".")[0].partition("/")[0] in self.names

    def definition(self, name: str) -> str:
        """Return the one tracked file that defines a name; empty if none or several do."""
        output = (
            self._workspace.git.ask(
                "grep", "-lE", "-e", _DEFINES.replace("{}", name), "--", ":!*.md"
            )
            or ""
        )
        paths = output.split("\n") if output else []
        if len(paths) == 1 and paths[0] in self.files:
            return paths[0]

        return ""

    def imports(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return a sentence on how files like one import the project's own, and its inputs;
        empty without a habit.
        """
        suffix = PurePosixPath(path).suffix
        top = path.partition("/")[0]

        if suffix != ".py" and suffix not in _JAVASCRIPT_SUFFIXES:
            return "", ()

        styles_in, start, names = (
            (
                self._python_styles,
                f"Python files in `{top}/` import each other",
                ("pyproject.toml", "setup.cfg"),
            )
            if suffix == ".py"
            else (
                _javascript_styles,
                f"Imports in `{top}/` name the project's own files",
                ("tsconfig.json", "jsconfig.json", "package.json"),
            )
        )

        alike = [
            file for file in self.tracked if file.endswith(suffix) and file.partition("/")[0] == top
        ]
        styles: Counter[str] = Counter()
        for file in alike[:MOST_READ]:
            styles.update(styles_in(self.text(file)))

        style = _habit(styles)
        inputs = tuple(file for file in names if file in self.files)[:1]
        if style:
            return (f"{start} {style}.", inputs)

        return ("", ())

    def _python_styles(self, text: str) -> Iterable[str]:
        absolute, relative = "by their whole names, not relatively", "relatively, with leading dots"
        matches = _PYTHON_OWN.findall(text)
        return {
            relative if dots else absolute
            for dots, *names in matches
            if dots or self.has_module(max(names))
        }

    def test_place(self, source: str, test: str) -> tuple[str, int]:
        """Return a sentence on where tests of such files are, and their number;
        empty without a habit.
        """
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
        sources = (
            path.with_name(path.name.removeprefix(before).removesuffix(after) + suffix)
            for path in tests
        )
        counts = {
            "next to it": sum(str(path) in self.files for path in sources),
            f"in `{top}/`": sum(path.parts[0] == top for path in tests),
        }

        for folder, count in counts.items():
            if len(tests) >= FEWEST and count >= SHARE * len(tests):
                return f"The test of `NAME{suffix}` is {folder}, as `{example}`.", count

        return "", 0

    def registers(self, added: str, edited: str) -> int:
        """Return how many siblings of a new file another file names;
        0 where too few for a habit.
        """
        added_path, text = PurePosixPath(added), self.text(edited)
        paths = [PurePosixPath(file) for file in self.tracked if file not in (added, edited)]
        near = [path.stem for path in paths if path.parent == added_path.parent]
        near = [stem for stem in near if stem != "__init__" and len(stem) > 2]
        mentioned = [
            stem for stem in (*near, added_path.stem) if re.search(rf"\b{re.escape(stem)}\b", text)
        ]
        count = len(mentioned) - 1

        if mentioned[-1:] == [added_path.stem] and count >= max(3, SHARE * len(near)):
            return count

        return 0


def _in_or_above(folder: str, names: Iterable[str]) -> list[str]:
    return [*(f"{folder}/{name}" for name in names if folder), *names]


def _habit(count: Counter[str]) -> str:
    most = count.most_common(1)
    if most and most[0][1] >= FEWEST and most[0][1] >= SHARE * count.total():
        return most[0][0]

    return ""


def _javascript_styles(text: str) -> Iterator[str]:
    for specifier in set(_JAVASCRIPT_OWN.findall(text)):
        ending = PurePosixPath(specifier).suffix
        if specifier[0] != ".":
            yield "by an alias (`@/` or `~/`)"
        else:
            yield (
                f"with `{ending}` at the end"
                if ending in _JAVASCRIPT_SUFFIXES
                else "without an ending"
            )
