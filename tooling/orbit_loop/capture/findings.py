"""Lessons of a session: a command that worked after another failed, an order of commands, habits of
the code.

A lesson is phrased here: of a transcript it holds known commands and names that the project has.
Free text is quoted from a person's rules alone.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import PurePosixPath
from typing import Literal

from orbit_loop.capture.command_line import (
    COMMANDS,
    ProjectCommand,
    changes_files,
    is_other_family,
    may_change,
    read_command,
)
from orbit_loop.capture.project import Project
from orbit_loop.capture.remedy import (
    PREPARING,
    UNKNOWN,
    UNTOLD,
    Fault,
    Form,
    explains,
    forms,
    is_mild,
    variables_of,
)
from orbit_loop.capture.turns import Step, Turn
from orbit_registry.errors import plural
from orbit_registry.hook.purpose import SCRIPTS
from orbit_registry.hook.select import compiled_pattern, contains_pattern, folded

Pattern = Literal["recovery", "sequence", "discovery", "fact", "command", "correction"]
_PURPOSE_PHRASES = COMMANDS["purposes"]
MOST_KEYS = 500  # limit of each thing that is counted
FEWEST_TURNS = 3  # repetitions that make an order of commands, or a search, a habit
QUIET, MOST = (
    2,
    5,
)  # most lessons of a session: without a fault of the environment, corrections aside, and with one
_IDENTIFIER = re.compile(
    r"(?:\\b|(?:class|interface|type|def|function|struct|enum) )?"
    r"([A-Z][A-Za-z0-9]{3,40}|[a-z]+_[a-z0-9_]{3,40})(?:\\b)?\Z"
)
_PASSED = re.compile(
    r"(?im)\b[1-9]\d* (?:passed|passing)\b|test result: ok|^ok\b|no issues found|all checks "
    r"passed|build success|\b[1-9]\d* \w+, (?:\d+ \w+, )?0 failures\b"
)
_FAILED = re.compile(
    r"(?im)\b[1-9]\d* (?:failed|failing|errors?)\b|^(?:error|failed)\b|test result: "
    r"FAILED|build failure"
)
_TEST_FAILED = re.compile(
    r"(?im)\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|^\s*(?:--- )?fail\b|test result: "
    r"FAILED|AssertionError"
)
MOST_ADDED = 3  # most options that a lesson names
MOST_OUTPUT = 4_000
_MILD, _ASKING = (frozenset(COMMANDS[name]) for name in ("mild_options", "asking_options"))
_FOLDER_FAULT = "the folder is another one"
_PORT_FAULT = "a port is taken"
_OPTION_FAULT = "an option is unknown"
_MISSING_SCRIPT = ("the command is missing", "the script is missing", "the target is missing")
_CODE = ("test", "lint", "types", "build", "format", "install")
"""Purposes of commands that are run after a change of code."""
_FOUND_FAULTS = re.compile(
    r"(?im):\d+:\d+|:\d+: |\b[1-9]\d* (?:errors?|problems?|warnings?|files?)\b|would reformat"
)
"""Output of a linter that did its job."""
_LITERAL = re.compile(r"[ -~]{4,120}\Z")


@dataclass(frozen=True, slots=True)
class Lesson:
    """Lesson of a session; a later lesson about the same `subject` may replace it."""

    pattern: Pattern
    subject: str
    summary: str
    body: str
    weight: int
    core: str = ""  # words that state the lesson: a record that holds them states it too
    paths: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    error_pattern: str = ""
    procedural: bool = True


@dataclass(slots=True)
class _Stumble:
    way: ProjectCommand
    fault: str
    error_pattern: str
    kind: Fault
    paths: list[str] = field(default_factory=list)
    times: int = 1
    output: str = ""
    # What was run in between, if the same command worked after it.
    first: ProjectCommand | None = None
    failed: ProjectCommand | None = None  # the command as it was typed
    is_doubted: bool = False  # something else may be why it works
    advice: str = ""  # words of the person since it failed


@dataclass(frozen=True, slots=True)
class Attempt:
    """Purpose for which a command failed because of its environment:
    how often, with which tools, and the end of it.
    """

    purpose: str
    attempts: int
    tools: tuple[str, ...]
    worked: bool
    fault: str


class Observer:
    """Collector of lessons from the turns of one session, with bounded memory."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._open: dict[str, _Stumble] = {}
        self._recovered: dict[str, tuple[_Stumble, ProjectCommand, int]] = {}
        self._worked: Counter[ProjectCommand] = Counter()
        self._orders: Counter[tuple[ProjectCommand, ...]] = Counter()

        self._sought: dict[str, set[int]] = {}
        self._facts: dict[str, Lesson] = {}
        self._rules: dict[str, Lesson] = {}
        self._turn = 0
        self._unknown: dict[str, bool] = {}  # programs of no table that failed; whether one worked
        self._now: list[_Stumble] = []  # those that this turn recovered from

    def learn(self, turn: Turn) -> None:
        """Learn from one turn."""
        self._turn += 1

        for rule in turn.rules[: MOST - len(self._rules)]:
            paths = self._project.paths_in(rule)
            body = "A person said so in a session."
            lesson = Lesson(
                "correction", f"said:{rule[:200]}", rule, body, 20, rule, paths, procedural=False
            )
            self._rules.setdefault(rule, lesson)

        for stumble in self._open.values():
            stumble.advice += turn.prompt
        if turn.rejected:
            self._open.clear()
            return

        written_paths: list[str] = []
        order: list[ProjectCommand] = []
        for step in turn.steps:
            if step.action == "write" and not step.failed:
                written_paths += [
                    path
                    for path in step.paths
                    if path in self._project.files or len(written_paths) < 40
                ]

                self._edited()
                order = []
            elif step.action == "run":
                if may_change(step.command):
                    self._doubt()
                order += self._run(step, written_paths)
                if not step.failed and changes_files(step.command):
                    self._edited()
            elif step.action == "search":
                self._seek(step.pattern)

        if (
            written_paths
            and len(order := list(dict.fromkeys(order))) > 1
            and len(self._orders) < MOST_KEYS
        ):
            self._orders[tuple(order)] += 1

        for stumble in self._now:
            stumble.paths += written_paths[:40]

        self._now.clear()
        self._look(written_paths[:40])

    def _edited(self) -> None:
        """Forget the failures that an edit may have repaired."""
        for purpose, stumble in list(self._open.items()):
            if stumble.kind.by_edits:
                del self._open[purpose]

    def _doubt(self) -> None:
        for stumble in self._open.values():
            stumble.is_doubted = True

    def _seek(self, pattern: str) -> None:
        name = _IDENTIFIER.match(pattern)
        if name and (name[1] in self._sought or len(self._sought) < MOST_KEYS):
            self._sought.setdefault(name[1], set()).add(self._turn)

    def _run(self, step: Step, written_paths: list[str]) -> list[ProjectCommand]:
        line = read_command(step.command, self._project.root)
        known = (way for way in map(self._project.known, line.ways) if way is not None)
        every = [way for way in known if _ASKING.isdisjoint(way.arguments)]
        self._prepare(every, step)
        ways = [way for way in every if way.purpose in _CODE] or every

        self._count_unknown(line.unknown, step)
        if not ways:
            return []

        says_so = not line.is_piped or bool(
            _PASSED.search(step.output) and not _FAILED.search(step.output)
        )
        if says_so and not step.failed:
            defined = [way for way in ways if self._project.defines(way)]
            for way in defined:
                if way in self._worked or len(self._worked) < MOST_KEYS:
                    self._refute(way)
                    self._recover(way, [*step.paths, *written_paths])
                    self._worked[way] += 1
            return [way for way in defined if way.purpose in _CODE]

        if (
            len(ways) == 1
            and self._is_vouched(ways[0])
            and not (line.is_piped and _PASSED.search(step.output))
        ):
            self._stumble(ways[0], step, written_paths)

        return []

    @property
    def unknown(self) -> list[str]:
        """The programs that failed and later worked, of which no table says what they are for."""
        return [program for program, worked in self._unknown.items() if worked]

    def _count_unknown(self, program: str, step: Step) -> None:
        if not program:
            return

        if not step.failed and program in self._unknown:
            self._unknown[program] = True
        elif step.failed and len(self._unknown) < MOST_KEYS:
            self._unknown.setdefault(program, False)

    def _prepare(self, ways: Iterable[ProjectCommand], step: Step) -> None:
        """Note what may have made a failed command work:
        a service that was started, files that were generated.
        """
        for way, stumble in product(ways, self._open.values()):
            if way.purpose == stumble.way.purpose:
                continue

            is_told = f"{way.tool} {way.script}" in stumble.output
            if not step.failed and (is_told or self._may_repair(way, stumble)):
                added = self._arguments(way, (), stumble.output, is_told=True)
                stumble.first = way.with_arguments(added)
            elif way.purpose not in SCRIPTS.values():
                stumble.is_doubted = True

    def _may_repair(self, way: ProjectCommand, stumble: _Stumble) -> bool:
        """Say whether a command may prepare what another one lacked."""
        if is_other_family(way.tool, stumble.way.tool) or way.purpose == stumble.way.purpose:
            return False
        if way.purpose in PREPARING:
            return way.purpose in stumble.kind.repaired_by

        return bool(stumble.kind.repaired_by) and self._project.is_script(way)

    def _stumble(self, way: ProjectCommand, step: Step, written_paths: list[str]) -> None:
        form, error = self._form_of(way, step.output)
        if form is None or not form.fault.name:
            return
        if form.fault.name == UNKNOWN and not step.failed:
            return  # a pipe hid the exit code, and the output tells no fault

        paths = [*step.paths, *written_paths]
        output = step.output[-MOST_OUTPUT:]
        stumble = _Stumble(way, form.fault.name, error, form.fault, paths, output=output)
        before = self._open.setdefault(way.purpose, stumble)
        before.times += before is not stumble

        is_told = before.fault == UNKNOWN != form.fault.name
        if is_told or before.is_doubted or before.advice:
            stumble.times = before.times
            self._open[way.purpose] = stumble

    def _form_of(self, way: ProjectCommand, output: str) -> tuple[Form | None, str]:
        for form in forms():
            match = form.text.search(output)
            if match is not None:
                return form, self._error_of(match, form.error, output, way.tool)
        did_its_job = _FOUND_FAULTS if way.purpose in ("lint", "types", "format") else _TEST_FAILED
        return None if did_its_job.search(output) else UNTOLD, ""

    def _error_of(self, match: re.Match[str], pattern: str, output: str, program: str) -> str:
        name = next(filter(None, match.groups()), "")
        if (
            "{" in pattern
            and _LITERAL.match(match[0])
            and (not name or self._project.has_name(name))
        ):
            return pattern.replace("{0}", match[0]).replace("{1}", name)

        words = pattern.partition("*")[0]
        if pattern == "{0}":
            words = match[0].replace(name, "*") if name else ""

        return _error_pattern(output, words, program)

    def _is_vouched(self, way: ProjectCommand) -> bool:
        parts = filter(None, re.split("[:_-]", way.script))
        is_word = all(part in SCRIPTS for part in parts)
        return is_word or self._project.defines(way) or self._project.mentions(way.script)

    def _refute(self, way: ProjectCommand) -> None:
        """Forget what was learnt of a command that works after all."""
        stumble, _, _ = self._recovered.get(way.purpose, (None, way, 0))
        if stumble is None or stumble.first is not None or stumble.failed != way:
            return
        if stumble.failed.arguments == way.arguments:
            del self._recovered[way.purpose]

    def _recover(self, way: ProjectCommand, paths: list[str]) -> None:
        stumble = self._open.get(way.purpose)
        if stumble is None or self._is_other_part(stumble, way):
            return

        del self._open[way.purpose]
        if stumble.is_doubted or not _is_advised(stumble, way):
            return

        failed = stumble.failed = stumble.way
        is_same = (failed.words, failed.folder) == (way.words, way.folder)
        is_remedy = explains(stumble.kind, failed, way, stumble.output, self._project)
        if stumble.first is not None and not is_same:
            return  # each of the two may be why it works
        if stumble.first is None and not is_remedy:
            return
        if not is_same and self._worked[failed]:
            return  # it failed this time alone

        variables = variables_of(way) - variables_of(failed)
        if any(is_mild(name, stumble.output) for name in variables):
            return

        if stumble.fault == _OPTION_FAULT:
            stumble.way = self._refused(stumble, way)
        if is_same and stumble.first is None:
            added = self._added(stumble, way)
            if stumble.fault != _OPTION_FAULT:
                stumble.way = self._differing(stumble, way)
            way = way.with_arguments(added)
            if stumble.way.words == way.words and stumble.way.folder == way.folder:
                return

        for name in sorted(variables):
            if re.search(rf"\b{name}\b", stumble.output):
                stumble.fault = "a variable is not set"
                stumble.error_pattern = stumble.error_pattern or name

        stumble.paths += paths
        before, _, count = self._recovered.get(way.purpose, (stumble, way, 0))
        stumble.times += before.times if count else 0
        self._recovered[way.purpose] = (stumble, way, count + 1)
        self._now.append(stumble)

    def _is_other_part(self, stumble: _Stumble, way: ProjectCommand) -> bool:
        """Say whether a command is for another part of the project than the one that failed."""
        if is_other_family(stumble.way.tool, way.tool):
            return True
        if stumble.fault not in _MISSING_SCRIPT and self._project.are_scripts(stumble.way, way):
            return True
        if stumble.fault == _FOLDER_FAULT or stumble.way.place == way.place:
            return False
        if stumble.way.place:
            return bool(way.place)
        if not way.folder:
            return False

        is_alike = self._project.is_alike(stumble.way, way)
        return self._project.is_defined(stumble.way) or (
            is_alike and stumble.kind.by_edits and bool(self._project.inputs_of(stumble.way))
        )

    def _added(self, stumble: _Stumble, way: ProjectCommand) -> dict[str, str]:
        """Return the arguments that made the same command work, as they are shown."""
        known = stumble.way.arguments
        is_told = stumble.fault != UNKNOWN or way.purpose in ("test", "build", "install")
        mild = () if stumble.fault == _OPTION_FAULT else _MILD
        shortest = 3 if stumble.fault == UNKNOWN else 2  # `-T` explains a known fault alone
        added = self._arguments(
            way, known, stumble.output, is_told=is_told, mild=mild, shortest=shortest
        )
        new = [word for word in way.arguments if word not in known]
        if stumble.fault == _FOLDER_FAULT:
            operands = [word for word in new if word[:1] not in "-+"]
            added |= {word: word for word in operands if self._project.has_path(word)}
        elif stumble.fault == _PORT_FAULT:
            added |= {word: word for word in new if word.rpartition(" ")[2].isdigit()}

        return added

    def _differing(self, stumble: _Stumble, way: ProjectCommand) -> ProjectCommand:
        """Return the command that failed with the options that the one which worked has not."""
        options = self._arguments(stumble.way, way.arguments, stumble.output, is_told=True)
        return stumble.way.with_arguments(options)

    @staticmethod
    def _refused(stumble: _Stumble, way: ProjectCommand) -> ProjectCommand:
        """Return the command that failed with the options that it refused."""
        refused: dict[str, str] = {}
        for argument in stumble.way.arguments:
            option = argument.partition(" ")[0]
            if option in stumble.output and argument not in way.arguments and len(option) > 2:
                refused[argument] = option

        return stumble.way.with_arguments(refused)

    def _arguments(
        self,
        way: ProjectCommand,
        known: Collection[str],
        output: str,
        *,
        is_told: bool,
        mild: Collection[str] = _MILD,
        shortest: int = 3,
    ) -> dict[str, str]:
        """Return the options that made a command work, as they are shown:
        after a known fault, or named in its output or a file.
        """
        added: dict[str, str] = {}
        for part in way.parts:
            option, _, value = part.argument.partition(" ")
            if option[:1] not in ("-", "+") or option in mild or part.argument in known:
                continue
            if is_mild(option, output):
                continue

            is_file, is_named = self._project.has_path(value), option in output
            if not (is_told or is_named or is_file):
                continue

            words = [word for word in re.split("[,/]", value) if word]
            is_public = is_file or value.isdigit()
            is_public |= bool(words) and all(map(self._project.mentions, words))
            if is_public or (not value and len(option) >= shortest):
                added[part.argument] = part.text
            elif value:
                added[part.argument] = f"{part.text.removesuffix(value)}…"

        return dict([*added.items()][:MOST_ADDED])

    def _look(self, written_paths: list[str]) -> None:
        unique = dict.fromkeys(written_paths)
        there = [path for path in unique if path in self._project.files or self._project.text(path)]
        for path in there[:5]:
            subject = f"imports:{path.partition('/')[0]}:{PurePosixPath(path).suffix}"
            if subject not in self._facts and len(self._facts) < MOST_KEYS and "/" in path:
                summary, inputs = self._project.imports(path)
                if summary:
                    self._keep(
                        Lesson("fact", subject, summary, "", 1, summary, (_below(path),), inputs)
                    )

        tests, sources = (
            [path for path in there if _is_test(path)],
            [path for path in there if not _is_test(path)],
        )
        for test, source in product(tests[:3], sources[:3]):
            summary, count = self._project.test_place(source, test)
            if summary:
                subject, body = (
                    f"layout:{PurePosixPath(source).suffix}",
                    f"So it is for {count} tests.",
                )
                scope = (_below(source), _below(test))
                self._keep(Lesson("fact", subject, summary, body, 2, summary, scope, (), (test,)))

        new = [path for path in there if path not in self._project.files]
        old = [path for path in there if path in self._project.files]
        for path, other in product(new[:3], old[:5]):
            if count := self._project.registers(path, other):
                folder = str(PurePosixPath(path).parent)
                summary = f"A new file in `{folder}/` is registered in `{other}`."
                subject, body = f"registration:{folder}", f"`{other}` names {count} of its files."
                below = (f"{folder}/**",)
                self._keep(
                    Lesson("fact", subject, summary, body, 3, summary, below, (other,), (other,))
                )

    def _keep(self, lesson: Lesson) -> None:
        if len(self._facts) < MOST_KEYS:
            self._facts.setdefault(lesson.subject, lesson)

    def lessons(self) -> list[Lesson]:
        """Return the lessons, the weightiest first."""
        lessons = [
            *self._rules.values(),
            *self._recoveries(),
            *self._discoveries(),
            *self._sequences(),
            *self._facts.values(),
        ]
        if "test" not in self._recovered:
            lessons += self._test_runner()

        lessons.sort(key=lambda lesson: (-lesson.weight, lesson.subject))
        is_told = any(stumble.fault != UNKNOWN for stumble, _, _ in self._recovered.values())
        return lessons[: MOST if is_told else max(QUIET, len(self._rules))]

    def attempts(self) -> list[Attempt]:
        """Return the purposes with a failed command, the unsolved ones last."""
        attempts: list[Attempt] = []
        for purpose, (stumble, way, _) in self._recovered.items():
            tools = tuple(dict.fromkeys((stumble.way.tool, way.tool)))
            attempts.append(Attempt(purpose, stumble.times + 1, tools, True, stumble.fault))

        for purpose, stumble in self._open.items():
            if purpose not in self._recovered and stumble.fault != UNKNOWN:
                tools = (stumble.way.tool,)
                attempts.append(Attempt(purpose, stumble.times, tools, False, stumble.fault))

        return attempts

    def _recoveries(self) -> Iterator[Lesson]:
        for purpose, (stumble, way, count) in self._recovered.items():
            is_same = stumble.way.words == way.words
            names_folder = is_same or stumble.way.folder != way.folder
            good, bad = (
                f"`{_in_folder(entry) if names_folder else entry.words}`"
                for entry in (way, stumble.way)
            )
            way_in = f"{good} works"
            if purpose in _PURPOSE_PHRASES:
                way_in = f"{_PURPOSE_PHRASES[purpose]} with {good}"

            often = "once" if count == 1 else plural(count, "time")

            why = "" if stumble.fault == UNKNOWN else f": {stumble.fault}"
            if stumble.first is not None:
                first = f"`{stumble.first.words}`"
                before = "it fails" if stumble.fault == UNKNOWN else stumble.fault
                summary = f"{way_in} once {first} has run; before that {before}."
                body = (
                    f"{good} failed, and worked after {first}, {often}; no file was edited between."
                )
                good = f"{first} has run"
            else:
                summary = f"{way_in}; {bad} fails here{why}."
                body = (
                    f"{bad} failed and {good} worked after it, {often}; no file was changed "
                    f"between."
                )

            yield Lesson(
                "recovery",
                f"run:{purpose}",
                summary,
                body,
                10 + count,
                good,
                _scope(stumble.paths, self._project),
                self._project.inputs_of(way),
                error_pattern=stumble.error_pattern,
            )

    def _test_runner(self) -> Iterator[Lesson]:
        tests = [
            (count, way.words, way) for way, count in self._worked.items() if way.purpose == "test"
        ]
        count, words, way = max(tests, key=lambda entry: entry[:2], default=(0, "", None))
        if way is not None and count >= FEWEST_TURNS:
            summary, body = (
                f"{_PURPOSE_PHRASES['test']} with `{words}`.",
                f"So it worked {plural(count, 'time')}.",
            )
            yield Lesson(
                "fact", "run:test", summary, body, 5, f"`{words}`", (), self._project.inputs_of(way)
            )

    def _sequences(self) -> Iterator[Lesson]:
        for order, count in self._orders.most_common(1):
            if count < FEWEST_TURNS:
                return

            words = ", then ".join(f"`{way.words}`" for way in order)
            summary = f"After a change of code {words} are run."
            body = f"So it was in {plural(count, 'accepted turn')}."
            inputs = dict.fromkeys(chain.from_iterable(map(self._project.inputs_of, order)))
            yield Lesson("sequence", "order", summary, body, 4, summary, (), tuple(inputs))

    def _discoveries(self) -> Iterator[Lesson]:
        often = sorted(((len(turns), name) for name, turns in self._sought.items()), reverse=True)
        for count, name in often[:5]:
            if count < FEWEST_TURNS:
                return

            path = self._project.definition(name)
            if path:
                summary, body = (
                    f"`{name}` is defined in `{path}`.",
                    f"It was looked for in {plural(count, 'turn')}.",
                )
                yield Lesson(
                    "discovery",
                    f"where:{name}",
                    summary,
                    body,
                    2 + count,
                    summary,
                    (),
                    (path,),
                    (path,),
                    (f"{path}::{name}",),
                )

                return


def _is_advised(stumble: _Stumble, way: ProjectCommand) -> bool:
    """Say whether the person said nothing since a command failed, or how it works.

    With any other word they may have repaired something, or have asked for something else.
    """
    new = [word for word in way.words.split() if word not in stumble.way.words.split()]
    advice = stumble.advice
    return not advice or bool(new and re.search(rf"(?<!\w){re.escape(new[0])}(?!\w)", advice))


def _error_pattern(text: str, words: str, program: str) -> str:
    words = words.rstrip("*")
    lines = [folded(line) for line in text.splitlines()] if words else []
    for pattern in (
        f"{program}: {words}",
        f"{program}*{words}",
        f"{words}: {program}",
        f"{words}*{program}",
    ):
        if any(contains_pattern(compiled_pattern(pattern), line) for line in lines):
            return pattern

    return ""


def _in_folder(way: ProjectCommand) -> str:
    if way.folder:
        return f"cd {way.folder} && {way.words}"

    return way.words


def _is_test(path: str) -> bool:
    return bool(re.search(r"(?:^|[._/-])(?:tests?|spec)(?:[._/-]|$)", path))


def _below(path: str) -> str:
    folder = path.rpartition("/")[0]
    if folder:
        return f"{folder}/**"

    return path


def _scope(paths: list[str], project: Project) -> tuple[str, ...]:
    project_paths = [
        path for path in dict.fromkeys(paths) if path in project.files or path.endswith("/")
    ]
    return tuple(
        dict.fromkeys(f"{path}**" if path.endswith("/") else _below(path) for path in project_paths)
    )[:5]
