"""Files that start Orbit for an agent, a forge or git, and what turns such things off."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise

from orbit_registry.formats.manifests import is_requirements
from orbit_registry.formats.shell import left_open
from orbit_registry.formats.toml import load_toml
from orbit_registry.repository.codec import data_in
from orbit_registry.repository.package_sources import (
    PACKAGE,
    VARIABLE,
    Names,
    Row,
    is_installer,
    is_lock,
    package_sources,
    requirement_rows,
)

_AGENT_FILES = """
.claude/settings.json .codex/config.toml .codex/hooks.json .cursor/hooks.json .cursor/mcp.json
.gemini/settings.json .github/hooks/orbit.json .mcp.json .opencode/plugin/orbit.js opencode.json
.vscode/mcp.json
"""
AGENT_FILES = frozenset(_AGENT_FILES.split())
"""Settings of coding agents that start Orbit."""
_CI_FILES = re.compile(
    r"\.(?:github|forgejo|gitea)/workflows/[^/]+|\.gitlab-ci\.ya?ml|\.circleci/config\.yml"
    r"|\.pre-commit-config\.yaml|lefthook\.ya?ml|Jenkinsfile|\.(?:husky|(?:git-?)?hooks)/[^/]+"
    r"|(?:git-?)?hooks/(?:commit-msg|pre-[\w-]+|post-[\w-]+|update)"
    r"|(?:azure|bitbucket)-pipelines\.yml|\.buildkite/[^/]+\.ya?ml|\.woodpecker(?:/[^/]+)?\.ya?ml"
    r"|\.drone\.ya?ml|\.travis\.yml|appveyor\.yml|cloudbuild\.ya?ml"
)
"""Files by which a forge or git starts Orbit."""
_BUILD_FILES = re.compile(
    r"(?:.*/)?(?:(?:GNUm|M|m)akefile|[Jj]ustfile|Taskfile\.ya?ml|noxfile\.py|tox\.ini|package\.json"
    r"|pyproject\.toml|\.?mise\.toml|[^/]+\.(?:sh|bash|mk))|\.github/actions/.+/action\.ya?ml"
)
"""Files in which a forge or git calls what may run Orbit."""
_LISTS = re.compile(
    r"(?:.*/)?(?:Pipfile|setup\.cfg|environment\.ya?ml|\.tool-versions|[^/]*Dockerfile[^/]*)"
)
"""Files that say which Orbit is installed, as requirements do."""
_RUN_FIRST = re.compile(
    r"(?:.*/)?(?:site|user)customize\.py|(?:[^/]+/)?orbit_registry(?:\.py|/__init__\.py)"
)
"""Modules that Python runs before Orbit, or in its place, where it finds them."""
_ORBIT = re.compile(r"(?i)(?<![a-z0-9.-])orbit(?:[-_](?:registry|check))?(?![a-z0-9-]|_[a-z0-9])")
_COMMANDS_WORDS = (
    "accept adr apply audit baseline brief capture check clear completion coverage diff "
    "doctor enforce ensure events explain export fail failure fleet help hook import init "
    "learning leave lessons link list match mcp merge-driver new note pitch promote "
    "proposal propose prove query queue refresh reject related replay resolve resource "
    "retire retro review rule run scope search show site snapshot stale stats sync trust "
    "unlink verify vote watchdog"
)
COMMANDS = frozenset(_COMMANDS_WORDS.split())
"""Every command of Orbit: a program of this name with another one, `orbit deploy`, is not Orbit."""
_FOREIGN = re.compile(
    r"\.(?:bash|pl|ps1|py|rb|service|sh|tf|toml|ya?ml|zsh)\b|[\"']?[ \t]+([a-z][\w-]*)"
)
"""What follows the name and shows that it may be another program's."""
_RUNS_ORBIT = re.compile(r"\borbit(?:[-_]registry)?[\"']?,?\s+[\"']?(?:check|hook|mcp|diff)\b")
_SWITCH_NAME = re.compile(r"(?i).*(?:disable|enable|deny|block).*|skip")
"""The name of a setting that may turn off what it names, or all."""
_ENVIRONMENT = re.compile(
    r"(?i)PATH|ORBIT\w*|LD_\w*|BASH_ENV|SHELL"
    r"|GIT_(?:(?:ALTERNATE|CEILING|CONFIG|OBJECT|REPLACE)\w*|ATTR_SOURCE|CHECKOUT|DIR|EXEC_PATH"
    r"|INDEX_FILE|NAMESPACE|STRATEGY|WORK_TREE)"
    rf"|PYTHON(?:HOME|PATH|PLATLIBDIR|PYCACHEPREFIX|STARTUP|USERBASE)|{VARIABLE}"
)
"""A variable that says which program runs, and on what."""
_GIT = r"\bgit(?: -[cC] (?:[^\s\"']|\"[^\"]*\"|'[^']*')+| -(?![cC] )[\w-]+(?:=\S+)?)*"
_GIT_STEERS = (
    r"(?:checkout|reset|commit|switch|restore|apply|rebase|merge|rm|replace|update-ref"
    r"|symbolic-ref)(?![\w-])"
    r"|branch\b.* (?:-[fMC]|--force)\b|remote set-url"
    r"|config\b.*(?i:insteadof|remote\.|core\.(?:attributes|fsmonitor|hooks|sparse|worktree))"
    r"|fetch\b[^;&|]*?[ +](?:refs/heads/)?+(?P<of>[\w./-]+):"
    r"(?!//|(?:refs/(?:heads|remotes/\w+)/)?(?P=of)\b)"
)
_INSTALLS = re.compile(
    r"\b(?:pip3?|pipx|uv|poetry|pdm)(?: +(?!run )\S+)*? +(?:add|download|install|lock|sync)\b"
)
_FROM_ELSEWHERE = re.compile(r" -[if] | --(?:(?:extra|default|no)-)?ind| --find-l| --trusted")
_RECORDS = r"(?<![\w.-])\.orbit(?![\w.-])(?!/state\b)"
_ALTERS = (
    rf"\b(?:rm|mv|tee|truncate|sed\b[^;&|]* (?:-\w*i|--in-place))\b[^;&|]*{_RECORDS}"
    rf"|\b(?:cp|ln|rsync)\b[^;&|]*{_RECORDS}[^;&|\s]*\s*(?:$|[;&|#]|\d?>)|>\s*[\"']?{_RECORDS}/"
)
_STEERING = re.compile(rf"GITHUB_PATH|\bPATH=|{_GIT} (?:{_GIT_STEERS})|{_ALTERS}")
"""A line of a step before Orbit that gives it other files or another program."""
_LASTING = re.compile(r"(?:\becho +[\"']?(\w+)=[^;&]*)?GITHUB_ENV")
"""A line that gives the steps that follow a variable: `echo "NAME=…" >> $GITHUB_ENV`."""
_COMMAND = r"(?:^|[;&|(){}]|\b(?:then|do|else))\s*"
"""What is before a command of a line."""
_ENDING = re.compile(
    rf"set \+e|{_COMMAND}(?:(?:exit|return)\b(?! +[1-9])|alias\b"
    r"|exec +(?![<>\d{&]|[^;&|]*\borbit))|\btrap\b.*\bexit\b(?! +[1-9])"
    r"|\(\) *\{"
)
"""A line of a script that may end it before Orbit, or take Orbit's place."""
_FORGIVING = re.compile(r"\|\| *true")
"""A line of which a failure does not count."""
_MOVING = re.compile(rf"(?:{_COMMAND}(?:cd|pushd|chdir)|\borbit\b.*(?:-C|--root|--project))[ =]")
"""A line that runs what follows, or Orbit, in another folder."""
_LEAVING = re.compile(r"(?:^|[;&|{}]|\b(?:then|do|else))\s*(?:cd|pushd|chdir)[ ]")
"""A line of a script after which the next ones run in another folder."""
_SHELL_FILE = re.compile(r"\.?(?:husky|(?:git-?)?hooks)/[^/.]+")
"""A file that is a script of a shell, unless its first line names another program."""
_LONGEST_LINE = 2_000
"""Characters of a line in a script ahead of Orbit; a longer one counts as one that steers."""
_SWITCH_IN_LINES = re.compile(
    r"(?i)disable|enable|continue-on-error|allow_failure|\bif:|\bwhen:|set \+e"
)
"""A line that may turn off what it belongs to, in a file of which only lines can be read."""
_SERVERS = frozenset(("mcp", "mcpServers", "mcp_servers", "servers"))
_COLLECTIONS = _SERVERS | {"hooks", "jobs"}
"""Settings whose entries do not depend on each other."""
_STEPS = frozenset(("before_script", "script", "steps"))
"""Lists whose entries come one after the other."""
_SCRIPTS = (("before_script",), ("script",))
"""Those whose entries are the lines of one script."""
_OF_ALL_WORDS = (
    "before_script default default_stages defaults env exclude fail_fast files include "
    "on variables workflow"
)
_OF_ALL = frozenset(_OF_ALL_WORDS.split())
"""Settings of a whole file that say when or how all in it runs."""
_TITLES = ("description", "name", "title")
_NOT_RUN = (
    "dependencies depends_on environment group if key labels needs paths tags working-directory"
)
_NEVER_STARTS = frozenset((*_TITLES, *_NOT_RUN.split()))
"""Settings whose value is no program."""
_VARIABLES = ("env", "variables")
_HARMLESS_WORDS = (
    "artifacts cache concurrency description id interruptible name outputs "
    "permissions require_serial retry run-name services stage statusMessage timeout-minutes "
    "verbose"
)
_HARMLESS = frozenset(_HARMLESS_WORDS.split())
"""Settings that neither turn off what they belong to nor change what it does."""
_REQUESTS = ("pull_request", "merge_request", "merge_group")
_VERSION = re.compile(r"(?<=[\w.])(?:@[\w.+-]+|[-:=]v?\d[\w.+-]*|[-:]latest)$")
"""The version of a program or a machine, at the end of its name."""
_NOTHING = ""
_SHOWN = 80
_SHELLS = ("bash", "sh", "pwsh", "powershell", "cmd")
_YES = "True"
_COMMENT = ("#", "//")
_YAML = (".yml", ".yaml")

Settings = frozenset[str]
"""Values, each after the names that lead to it."""


@dataclass(frozen=True, slots=True)
class Starts:
    """What in a file of settings starts Orbit, and what says when and how."""

    starting: Settings
    """What must stay; more of it only starts Orbit more often."""
    around: Settings
    """What must stay the same."""

    def is_weaker(self, before: Starts) -> bool:
        """Say whether something that started Orbit is not there any more, or starts otherwise."""
        if not before.starting:
            return False
        return not before.starting <= self.starting or before.around != self.around


def alteration(path: str, before: Starts, after: Starts) -> str:
    """Return in words what a change does to how a file starts Orbit; empty if it does nothing."""
    if before.starting and not after.starting:
        return f"takes Orbit out of {path}"
    if after.is_weaker(before):
        verb = "installs" if installs(path) else "starts"
        return f"alters how {path} {verb} Orbit ({_difference(before, after)})"
    if is_installer(path) and before.around != after.around:
        return f"alters where packages come from: {path}"

    return ""


def _difference(before: Starts, after: Starts) -> str:
    """Return the first setting that is new, or else the first that is not there any more."""
    lost = sorted((before.around - after.around) | (before.starting - after.starting))
    for setting in sorted(after.around - before.around):
        return f"now with `{_shortened(setting)}`"

    return f"no longer with `{_shortened(lost[0])}`"


def _shortened(setting: str) -> str:
    plain = " ".join(setting.replace("`", "'").split())
    if len(plain) <= _SHOWN:
        return plain

    return f"{plain[:_SHOWN]}…"


def is_starter(path: str) -> bool:
    """Say whether a file may start Orbit: for an agent, a forge, git or a build."""
    is_of_agent = any(path == name or path.endswith(f"/{name}") for name in AGENT_FILES)
    return is_of_agent or _CI_FILES.fullmatch(path) is not None or _is_of_build(path)


def runs_first(path: str) -> bool:
    """Say whether a file may be a module that Python runs before Orbit, or in its place."""
    return _RUN_FIRST.fullmatch(path) is not None


def _is_of_build(path: str) -> bool:
    return installs(path) or _BUILD_FILES.fullmatch(path) is not None


def installs(path: str) -> bool:
    """Say whether a file says which packages are installed, and from where."""
    is_list = is_requirements(path) or _LISTS.fullmatch(path) is not None
    return is_list or is_installer(path) or is_lock(path)


def starts_in(path: str, text: str) -> Starts:
    """Return what in a file of settings starts Orbit."""
    if is_lock(path) and not PACKAGE.search(text):
        return Starts(frozenset(), frozenset())

    is_list = is_requirements(path)
    value = text if is_list else _value_in(path, text)
    rows = list(requirement_rows(text) if is_list else _rows(value))
    if _is_of_build(path):
        starting = [row for row in rows if _runs_or_installs_orbit(*row)]
        sources = package_sources(path, text, rows)
        return Starts(_settings(starting), _settings(sources))

    starting = [row for row in rows if _starts_orbit(*row)]
    ways: dict[Names, int] = {}
    for names, _ in starting:
        for end, name in enumerate(names):
            number = name if isinstance(name, int) else 0
            ways[names[:end]] = max(number, ways.get(names[:end], 0))

    aside = _folders_aside(rows)
    around = [row for row in rows if ways and _is_around(*row, ways)]
    around = [row for row in around if not _is_of_checkout(row[0], aside)]
    more = [row for row in around if _is_more(*row)]
    fixed = [row for row in around if row not in more]
    fixed += _open_before(path, value, [names for names, _ in starting])
    starting += chain.from_iterable(_parts(*row) for row in more)
    return Starts(_settings(starting), _settings(map(_without_version, fixed)))


def _open_before(path: str, value: object, starting: Iterable[Names]) -> Iterator[Row]:
    """Yield, for each line of a script that starts Orbit, what the lines before it leave open: a
    condition, a loop, a text, a line that is continued.
    """
    numbers: dict[Names, set[int]] = {}
    for names in starting:
        numbers.setdefault(names[:-1], set()).add(int(names[-1]))

    scripts: dict[Names, list[tuple[Names, str]]] = {}
    for names, part in _texts(value):
        if isinstance(part, str) and (names or _is_shell(path, part)):
            scripts.setdefault(_script_of(names), []).append((names, part))

    for script, parts in scripts.items():
        lines: list[str] = []
        starts: list[int] = []
        at = 0
        for names, number, line in _lines(parts):
            if number in numbers.get(names, ()):
                starts.append(at)
            lines.append(line)
            at += len(line)

        if starts:
            for is_open in left_open("".join(lines), starts).values():
                yield (*script, 0), is_open


def _lines(parts: Iterable[tuple[Names, str]]) -> Iterator[tuple[Names, int, str]]:
    """Yield the lines of a script in order, each with what leads to its text and its number."""
    for names, text in sorted(parts):
        for number, line in enumerate(f"{text}\n".splitlines(keepends=True)):
            yield names, number, line


def _script_of(names: Names) -> Names:
    """Return what leads to the script that a text is of: some forges join the items of a list."""
    is_item = names[-2:-1] in _SCRIPTS and isinstance(names[-1], int)
    if is_item:
        return names[:-1]

    return names


def _is_shell(path: str, text: str) -> bool:
    program = text.partition("\n")[0]
    is_other = program.startswith("#!") and "sh" not in program
    return _SHELL_FILE.fullmatch(path) is not None and not is_other


def _runs_or_installs_orbit(names: Names, text: str) -> bool:
    if _RUNS_ORBIT.search(text) or PACKAGE.search(text):
        return True

    return any(PACKAGE.search(str(name)) for name in names)


def _folders_aside(rows: Iterable[Row]) -> Collection[Names]:
    """Return the steps that get a repository into a folder where nothing runs."""
    folders = {
        names[:-3]: text.strip("./") for names, text in rows if names[-3:-1] == ("with", "path")
    }
    moves = [text for names, text in rows if _last_name(names) == "working-directory"]
    moves += [text for _, text in rows if _MOVING.search(text)]
    aside = {step for step, folder in folders.items() if folder}
    for text in moves:
        aside -= {step for step, folder in folders.items() if folder in text}

    return aside


def _is_of_checkout(names: Names, steps: Collection[Names]) -> bool:
    return names[-3:-2] == ("with",) and names[:-3] in steps


def _value_in(path: str, text: str) -> object:
    """Return the value in a file of settings; the lines of a file of another form."""
    value: object = None
    if path.endswith(_YAML):
        value = data_in(text)
    else:
        try:
            is_toml = path.endswith((".toml", ".lock", "Pipfile")) and "Pipfile.lock" not in path
            value = load_toml(text) if is_toml else json.loads(text)
        except (ValueError, RecursionError):
            value = None

    if value is None:
        return text

    return value


def _texts(value: object) -> Iterator[tuple[Names, object]]:
    """Yield the values inside of a value that have none inside."""
    pending: list[tuple[Names, object]] = [((), value)]
    while pending:
        names, part = pending.pop()
        if isinstance(part, Mapping) and part:
            pending += (((*names, str(name)), inner) for name, inner in part.items())
        elif isinstance(part, list) and part:
            pending += (((*names, number), inner) for number, inner in enumerate(part))
        else:
            yield names, part


def _rows(value: object) -> Iterator[Row]:
    """Yield the values inside of a value, each line of a text as one."""
    for names, part in _texts(value):
        if part is None or part in ({}, []):
            yield (*names, 0), _NOTHING
            continue

        for number, line in enumerate(str(part).splitlines() or [""]):
            text = line.strip().rstrip(",")
            if not text.startswith(_COMMENT):
                yield (*names, number), text


def _starts_orbit(names: Names, text: str) -> bool:
    is_allowed = "permissions" in names or _is_switch(names) or _last_name(names) in _NEVER_STARTS
    return not is_allowed and (_is_of_server(names) or _names_orbit(text))


def _names_orbit(text: str) -> bool:
    """Say whether a text names Orbit, and no other program that is called like it."""
    for name in _ORBIT.finditer(text):
        after = _FOREIGN.match(text, name.end())
        if after is None or name[0].casefold() != "orbit" or after[1] in COMMANDS:
            return True

    return False


def _is_of_server(names: Names) -> bool:
    """Say whether a value belongs to Orbit's own server."""
    return any(
        before in _SERVERS and _ORBIT.fullmatch(str(name)) for before, name in pairwise(names)
    )


def _last_name(names: Names) -> str | int:
    return next((name for name in reversed(names) if isinstance(name, str)), "")


def _is_more(names: Names, text: str) -> bool:
    """Say whether more values like one start Orbit at least as often: tools that a hook is called
    for, machines of a matrix, queues of merges, what is on.
    """
    last = _last_name(names)
    if last == "matcher" or names[:2] == ("on", "merge_group"):
        return True
    if "matrix" in names[:-2]:
        is_listed = text != _NOTHING and "${{" not in text
        return is_listed and not {"exclude", "include"}.intersection(names)

    is_enabling = "enable" in str(last).casefold() or last == "always_run"
    is_on = text.capitalize() == _YES or _ORBIT.search(text) is not None
    return is_enabling and is_on


def _parts(names: Names, text: str) -> Iterator[Row]:
    for part in text.split("|") if _last_name(names) == "matcher" else [text]:
        yield names, part


def _names_another(names: Names, switch: int, text: str) -> bool:
    """Say whether a switch names what it is about, and that is another program:
    `disabledMcpjsonServers: [x]`, `enabledPlugins: {x: false}`.
    """
    inner = [name for name in names[switch + 1 :] if isinstance(name, str)]
    program = inner[0] if inner else text
    # A value alone is followed by the number of its line.
    is_name = len(names) > switch + 2
    return is_name and "*" not in program and _ORBIT.search(program) is None


def _is_switch(names: Iterable[str | int]) -> bool:
    return any(_SWITCH_NAME.fullmatch(str(name)) for name in names)


def _is_around(names: Names, text: str, ways: Mapping[Names, int]) -> bool:
    """Say whether a value says when or how Orbit is started: `ways` has what leads there, each with
    the last number that leads on.
    """
    if _is_of_server(names) or (_is_switch(names) and _ORBIT.search(text)):
        return True
    if _starts_orbit(names, text):
        return _ENDING.search(text) is not None or _FORGIVING.search(text) is not None

    # The last part of the way to Orbit that also leads to this value.
    shared = max(end for end in range(len(names)) if names[:end] in ways)
    parent, name = names[:shared], names[shared]
    if isinstance(name, int):
        return _is_before(names, text, shared, ways[parent])
    if _is_switch([name]):
        return not _names_another(names, shared, text)
    if _last_name(names) == "shell" and text in _SHELLS:
        return False
    if name == "strategy" and "matrix" not in names:
        return False
    if name in _HARMLESS or (parent and parent[-1] in _COLLECTIONS):
        return False
    if name in _VARIABLES:
        return any(_ENVIRONMENT.fullmatch(str(part)) for part in names[shared + 1 :])
    if name == "on" and not parent:
        event = " ".join(map(str, (*names, text)))
        return any(word in event for word in _REQUESTS)

    return bool(parent) or name in _OF_ALL


def _is_before(names: Names, text: str, shared: int, last: int) -> bool:
    """Say whether an entry of a list, or a line of a text, comes before Orbit and steers it."""
    is_of_lines = len(names) == 1
    if is_of_lines and _SWITCH_IN_LINES.search(text):
        return True

    is_line = shared == len(names) - 1
    is_step = shared > 0 and names[shared - 1] in _STEPS
    if not (is_line or is_step) or int(names[shared]) > last:
        return False

    if len(text) > _LONGEST_LINE:
        return True

    is_of_script = is_line or (is_step and names[shared - 1] != "steps")
    if is_of_script and (_ENDING.search(text) or _LEAVING.search(text)):
        return True

    lasting = _LASTING.search(text)
    if lasting is not None:
        return lasting[1] is None or _ENVIRONMENT.fullmatch(lasting[1]) is not None

    is_checkout = "with" in names and names[-2] in ("ref", "repository")
    return is_checkout or _STEERING.search(text) is not None or _installs_from_elsewhere(text)


def _installs_from_elsewhere(line: str) -> bool:
    commands = re.split("[;&|]", line)
    return any(_INSTALLS.search(each) and _FROM_ELSEWHERE.search(each) for each in commands)


def _without_version(row: Row) -> Row:
    names, text = row
    return names, _VERSION.sub("", text)


def _settings(rows: Iterable[Row]) -> Settings:
    """Return values as texts, so that `on: push` and `on: {push: null}` are the same."""
    settings = set()
    for names, text in rows:
        words = [name for name in names if isinstance(name, str)]
        if text != _NOTHING:
            words.append(text)
        settings.add(".".join(words))

    return frozenset(settings)
