"""Turns of a session: a prompt, the steps after it, and how they went. All sizes are bounded."""

import re
import shlex
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from orbit_registry.agents.agent import TranscriptEntry
from orbit_registry.agents.transcripts import injected_in, without_injected
from orbit_registry.formats.wording import normalised
from orbit_registry.formats.yaml import table_of
from orbit_registry.hook.call import Call, in_project, normal_path, resolve_path
from orbit_registry.hook.payload import READING, WRITING, take_tool
from orbit_registry.hook.tools import FOLDER_FIELDS, SEARCHES, SHELLS, WRITES

MOST_RULES = 3  # rules of one prompt: more of them are a document
LONGEST, _LONGEST_RULES = 280, 6_000
FEWEST_WORDS, MOST_WORDS = 3, 45
_PASTED = re.compile(
    r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)|^[ \t]*(?:[>|]|\d+[:|]|[+-][^\s-]|\$ ).*?$|^(?: "
    r"{4}|\t).*?$"
    r"|\"[^\"\n]{15,}\"|“[^”]{15,}”",
    re.MULTILINE | re.DOTALL,
)
"""Fences, quotations, tables, numbered lines, diffs, shells, indented text."""
_WRAPPED = re.compile(r"\n(?=[a-z])")
_SENTENCE = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs)\.|[^.!?;\n`]|`[^`\n]*`|\.(?=\S))+[.!?;]*")
LONGEST_SENTENCE = 600
_CLAUSE = re.compile(
    r"(?:, |: | - | [—–] |\bbecause )(?:but |and |since |as )?|\b(?P<turn>but|please) (?:please )?",
    re.I,
)


_RULES = table_of(__file__, "rules.yaml")


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of rules.yaml."""
    return re.compile(_regex(name), re.IGNORECASE)


def _regex(name: str) -> str:
    entry: str | list[str] = _RULES[name]
    choices = [entry] if isinstance(entry, str) else entry
    return "|".join(
        re.sub(r"<(\w+)>", lambda part: f"(?:{_regex(part[1])})", choice) for choice in choices
    )


def rules_in(prompt: str) -> Iterator[str]:
    """Yield the sentences of a prompt that are rules, without the words that open them."""
    rules: dict[str, None] = {}
    before = ""
    for match in _SENTENCE.finditer(_WRAPPED.sub(" ", _PASTED.sub("\n", prompt[:_LONGEST_RULES]))):
        sentence = " ".join(match[0].split())
        is_told = (
            sentence.endswith("?")
            or len(sentence) > LONGEST_SENTENCE
            or _pattern("one_time").search(sentence)
        )
        rule = "" if is_told else next(_rules_of(sentence), "")
        if rule:
            is_part = _pattern("needs_context").match(rule) and len(before) + len(rule) < LONGEST
            rules[f"{before} {rule}".strip() if is_part else rule] = None

        before = sentence

    yield from list(rules)[:MOST_RULES]


def _rules_of(sentence: str) -> Iterator[str]:
    plain = _pattern("opening").sub("", _pattern("forbidden").sub("never", sentence))
    is_reminder = bool(_pattern("remember").match(_pattern("opened").sub("", sentence)))
    clauses = [(plain, True)]
    if not _pattern("condition").match(plain):
        clauses += [
            (plain[match.end() :], bool(match["turn"])) for match in _CLAUSE.finditer(plain)
        ]

    for text, begins in clauses:
        fits = len(text) <= LONGEST and FEWEST_WORDS <= len(text.split()) <= MOST_WORDS
        if not fits or _pattern("of_code").match(text):
            continue

        if (
            is_reminder
            or _pattern("rules").match(text)
            or (begins and _pattern("orders").match(text))
        ):
            yield f"{text[:1].upper()}{text[1:]}"


def _is_printed(rule: str, outputs: Iterable[str]) -> bool:
    words = normalised(rule)
    return any(words in normalised(output) for output in outputs)


MOST_WAITING, MOST_STEPS, MOST_CALLS = 200, 400, 20_000
MOST_PATHS = 20
LONGEST_COMMAND, LONGEST_PROMPT, LONGEST_PATTERN = 2_000, 1_000, 200
MOST_RECALLED = MOST_PRINTED = 200
Action = Literal["run", "write", "read", "search", "foreign", "other"]
_FOREIGN = re.compile(r"(?i)\A(?:mcp[_:]|.*(?:web|browser|fetch|url|http))")
_OWN_MCP = re.compile(r"(?i)\Amcp_{1,2}orbit")
_DOWNLOAD = re.compile(r"\b(?:curl|wget|lynx|httpie|https?://(?!localhost\b|127\.0\.0\.1\b))")
_REJECTION = re.compile(
    r"(?i)\A\W*(?:no(?!\w| problem| worries| need)|nope|wrong|incorrect|stop|undo|revert|roll "
    r"?back|nein|falsch"
    r"|that(?:'s|’s| is) (?:not|wrong|incorrect)|not what|don['’]?t|do not|you (?:broke|shouldn)"
    r"|this (?:is wrong|broke))\b"
)


@dataclass(frozen=True, slots=True)
class Step:
    """Call of a tool: `paths` are relative to the root, `output` is that of a command."""

    action: Action
    command: str = ""
    paths: tuple[str, ...] = ()
    pattern: str = ""
    failed: bool = False
    output: str = ""


@dataclass(slots=True)
class Turn:
    """Prompt and steps; `rejected` once the person interrupted it or turned it down."""

    prompt: str = ""
    answer: str = ""
    steps: list[Step] = field(default_factory=list)
    rejected: bool = False
    rules: tuple[str, ...] = ()  # sentences of the prompt that say what is always or never done


@dataclass(slots=True)
class Session:
    """Facts of a session that was read."""

    id: str = ""
    folder: str = ""
    turns: int = 0
    rejected: bool = False  # the last turn with a step was rejected
    is_foreign: bool = False  # it read the web or a foreign server, so its content is untrusted
    recalled: dict[str, None] = field(default_factory=dict)
    """Lines that were put before the model, which are no lessons of it."""
    printed: deque[str] = field(
        default_factory=lambda: deque(maxlen=MOST_PRINTED)
    )  # the latest outputs of tools
    is_agents: bool = False  # another agent wrote its prompts


def turns(entries: Iterable[TranscriptEntry], root: str, session: Session) -> Iterator[Turn]:
    """Yield the turns of a session, each when it ends, and fill in `session`."""
    waiting: dict[str, TranscriptEntry] = {}
    seen_calls: dict[str, None] = {}
    turn = Turn()
    for entry in entries:
        if entry.kind == "prompt":
            prompt = without_injected(entry.text)
            _recall(session, injected_in(entry.text))

            if not prompt:
                continue

            turn.rejected = turn.rejected or bool(_REJECTION.match(prompt))
            yield _over(turn, session)
            turn = Turn(
                prompt[:LONGEST_PROMPT], rules=() if session.is_agents else _rules(prompt, session)
            )
        elif entry.kind == "answer":
            turn.answer = without_injected(entry.text)[-LONGEST_PROMPT:]
        elif entry.kind == "stopped":
            turn.rejected = True
        elif entry.kind == "injected":
            _recall(session, [entry.text])
        elif entry.kind == "session" and not session.id:
            members = entry.arguments if isinstance(entry.arguments, Mapping) else {}
            session.id = entry.text[:200]
            session.folder = cwd if isinstance(cwd := members.get("cwd"), str) else ""
            session.is_agents = bool(members.get("parent"))
        elif entry.kind == "call" and entry.call not in seen_calls:
            seen_calls[entry.call], waiting[entry.call] = None, entry
            if len(waiting) > MOST_WAITING:
                del waiting[next(iter(waiting))]
            if len(seen_calls) > MOST_CALLS:
                del seen_calls[next(iter(seen_calls))]
        elif entry.kind == "result" and entry.call in waiting:
            step = _step(waiting.pop(entry.call), entry, root, session)
            session.printed.append(entry.text)

            if step.action == "foreign":
                session.is_foreign = True
            turn.steps.append(step)

            if len(turn.steps) > MOST_STEPS:
                del turn.steps[: MOST_STEPS // 2]

    yield _over(turn, session)


def _rules(prompt: str, session: Session) -> tuple[str, ...]:
    return tuple(rule for rule in rules_in(prompt) if not _is_printed(rule, session.printed))


def _over(turn: Turn, session: Session) -> Turn:
    if turn.steps:
        session.turns += 1
        session.rejected = turn.rejected
    return turn


def _recall(session: Session, texts: Iterable[str]) -> None:
    for text in texts:
        for line in text.splitlines():
            if len(session.recalled) < MOST_RECALLED and len(content := line.strip("- \t")) > 20:
                session.recalled[content[:LONGEST_PROMPT]] = None


def _step(called: TranscriptEntry, result: TranscriptEntry, root: str, session: Session) -> Step:
    tool, arguments = called.tool, called.arguments
    name = tool.casefold()
    members = arguments if isinstance(arguments, dict) else {}

    if _FOREIGN.match(tool):
        return Step("other" if _OWN_MCP.match(tool) else "foreign")

    if name in SHELLS or name == "local_shell_call":
        command = _command(arguments)
        where = next(
            (value for key in FOLDER_FIELDS if isinstance(value := members.get(key), str)), "."
        )
        start = called.folder or session.folder or root
        folder = in_project(root, start, where)
        if not folder and normal_path(resolve_path(start, where)) not in (root, start):
            return Step("other")  # it runs in another project

        if folder:
            command = f"cd {shlex.quote(f'{root}/{folder}')} && {command}"
        if _DOWNLOAD.search(command):
            return Step("foreign", command[:LONGEST_COMMAND], failed=result.failed)

        call = _call(name, {**members, "command": command[:LONGEST_COMMAND]}, session)
        action: Action = "write" if call.task_class == "code" else "run"
        return Step(
            action,
            command[:LONGEST_COMMAND],
            _paths(call, root),
            failed=result.failed,
            output=result.text,
        )

    call = _call(name, arguments, session)
    pattern = next(
        (
            value
            for key in ("pattern", "query", "regex")
            if isinstance(value := members.get(key), str)
        ),
        "",
    )
    if name in SEARCHES:
        return Step(
            "search",
            paths=_paths(call, root),
            pattern=pattern[:LONGEST_PATTERN],
            failed=result.failed,
        )

    if name in WRITES or name in WRITING or call.task_class == "code":
        return Step("write", paths=_paths(call, root), failed=result.failed)

    action = "read" if name in READING or call.reads else "other"
    return Step(action, paths=_paths(call, root), failed=result.failed)


def _command(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments

    members = arguments if isinstance(arguments, Mapping) else {}
    command = next(
        (value for key in ("command", "cmd", "script") if (value := members.get(key))), ""
    )
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        shell = (
            len(words) > 2
            and words[0].rpartition("/")[2] in ("bash", "sh", "zsh")
            and words[1].startswith("-")
        )
        if shell:
            return words[2]

        return " ".join(words)

    if isinstance(command, str):
        return command

    return ""


def _call(name: str, arguments: object, session: Session) -> Call:
    call = Call("transcript", "")
    call.folder = session.folder
    take_tool(call, "bash" if name == "local_shell_call" else name, arguments)
    return call


def _paths(call: Call, root: str) -> tuple[str, ...]:
    paths = (in_project(root, call.folder or root, mention) for mention in call.paths[:MOST_PATHS])
    return tuple(dict.fromkeys(path for path in paths if path))
