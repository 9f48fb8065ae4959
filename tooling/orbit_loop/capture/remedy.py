"""Faults of the environment, and what may be the remedy of each.

That a command worked after another had failed proves nothing. It is believed if the two differ in
something that explains the failure: `faults.yaml` says for each fault what does.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from orbit_loop.capture.command_line import COMMANDS, ProjectCommand
from orbit_loop.capture.project import Project
from orbit_registry.formats.yaml import table_of

UNKNOWN = "something of its environment is missing"
"""Fault of an output that has none of the forms."""
PREPARING = ("start", "generate", "migrate", "build", "install")
_ASSIGNED = re.compile(r"([A-Z][A-Z0-9_]+)=")
_LOADING = re.compile(r"(?:source|\.) \S*\.env\b")
_WORKERS = frozenset(COMMANDS["worker_options"])
_CHOOSING = frozenset(COMMANDS["choosing_options"])
_MILD_WORDS = frozenset(COMMANDS["mild_words"])


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of `faults.yaml`, and what may repair it."""

    name: str
    explained_by: frozenset[str]
    options: re.Pattern[str] | None = None
    repaired_by: tuple[str, ...] = PREPARING
    by_edits: bool = True
    in_part: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """Text that tells a fault, and the `error_pattern` that it becomes."""

    text: re.Pattern[str]
    fault: Fault
    error: str


@cache
def forms() -> tuple[Form, ...]:
    """Return the forms of `faults.yaml`; the first that fits an output counts."""
    listed: list[Form] = []
    for entry in table_of(__file__, "faults.yaml"):
        options = entry.get("options")
        fault = Fault(
            entry["fault"],
            frozenset(entry.get("explained_by", ("runner", "variable"))),
            re.compile(options) if options else None,
            tuple(entry.get("repaired_by", PREPARING)),
            entry.get("edits", True),
            entry.get("in_part", False),
        )
        for form in entry["forms"]:
            listed.append(Form(re.compile(form["text"]), fault, form.get("error", "")))

    return tuple(listed)


UNTOLD = Form(re.compile(""), Fault(UNKNOWN, frozenset(["runner"]), None, (), in_part=True), "")


def explains(
    fault: Fault, bad: ProjectCommand, good: ProjectCommand, output: str, project: Project
) -> bool:
    """Say whether the way in which two commands differ is the remedy of a fault.

    A command for less than the one that failed proves nothing, unless that one did not even start.
    """
    differences = set(_differences(bad, good, project))
    if "program" in differences and "program" not in fault.explained_by:
        return False
    if "program" in differences and not project.prefers(good, bad):
        return False
    is_part = "folder" not in fault.explained_by and len(good.place) > len(bad.place)
    if fault.in_part and (is_part or _is_narrower(bad, good, output)):
        return False

    variables = variables_of(good) - variables_of(bad)
    if any(re.search(rf"\b{name}\b", output) for name in variables):
        return True

    has_option = any(_is_remedy(word, fault, bad, output) for word in good.arguments)
    return has_option or not differences.isdisjoint(fault.explained_by)


def _differences(bad: ProjectCommand, good: ProjectCommand, project: Project) -> Iterator[str]:
    variables = variables_of(good) - variables_of(bad)
    is_loaded = _LOADING.search(good.words) and not _LOADING.search(bad.words)
    if variables or is_loaded:
        yield "variable"

    if bad.place != good.place:
        yield "folder"
    paths = [word for word in good.arguments if word not in bad.arguments]
    if any(project.has_path(word.rpartition(" ")[2]) for word in paths):
        yield "path"

    if _workers(bad) != _workers(good):
        yield "workers"

    if _bare(bad) == _bare(good):
        return

    if project.is_alike(bad, good) or project.runs(good, bad.tool):
        yield "runner"
        if "docker" in good.words and "docker" not in bad.words:
            yield "container"
    else:
        yield "program"


def _workers(way: ProjectCommand) -> list[str]:
    """Return the arguments that say how much runs at once."""
    return [word for word in way.arguments if word.partition(" ")[0] in _WORKERS]


def _bare(way: ProjectCommand) -> str:
    """Return the words of a command without the variables that it sets."""
    return _ASSIGNED.sub("", " ".join(word for word in way.words.split() if "=" not in word))


def variables_of(way: ProjectCommand) -> set[str]:
    """Return the names of the variables that a command sets."""
    return set(_ASSIGNED.findall(way.words))


def _is_remedy(word: str, fault: Fault, bad: ProjectCommand, output: str) -> bool:
    """Say whether an argument is what the output advises, or what repairs such a fault."""
    if word in bad.arguments or len(word) < 2:
        return False

    option, _, value = word.partition(" ")
    is_named = option[:1] in "-+" and len(option) > 2
    is_named = is_named and re.search(rf"{re.escape(option)}(?![\w-])", output) is not None
    is_named |= len(value) > 2 and re.search(rf"\b{re.escape(value)}\b", output) is not None
    is_named |= bool(value) and any(_renames(word, other, output) for other in bad.arguments)
    return is_named or bool(fault.options and fault.options.search(word))


def _renames(word: str, other: str, output: str) -> bool:
    """Say whether an option has the value of one that was refused."""
    option, _, value = other.partition(" ")
    return option in output and value == word.partition(" ")[2]


def _is_narrower(bad: ProjectCommand, good: ProjectCommand, output: str) -> bool:
    """Say whether a command is for fewer tests or files than another one."""
    added = [word for word in good.arguments if word not in bad.arguments]
    operands = [word for word in added if word[:1] not in "-+"]
    if operands and good.tool == bad.tool and good.folder == bad.folder:
        return True

    options = [word.partition(" ")[0] for word in added]
    return any(option in _CHOOSING or is_mild(option, output) for option in options)


def is_mild(name: str, output: str) -> bool:
    """Say whether an option or a variable makes nothing work, and no output advised it."""
    words = re.split("[-_]+", name.strip("-").casefold())
    return name not in output and not _MILD_WORDS.isdisjoint(words)
