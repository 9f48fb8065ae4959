"""Turns of a session: a prompt, the steps after it, and how they went. All sizes are bounded."""

import re
import shlex
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from orbit_registry.agents.agent import TranscriptEntry
from orbit_registry.capture.transcripts import injected_in, without_injected
from orbit_registry.hook.call import Call, in_project
from orbit_registry.hook.payload import READING, WRITING, take_tool
from orbit_registry.hook.tools import FOLDER_FIELDS, SEARCHES, SHELLS, WRITES

MOST_RULES = 3  # rules of one prompt: more of them are a document
LONGEST, _LONGEST_RULES = 280, 6_000
FEWEST_WORDS, MOST_WORDS = 3, 45
_PASTED = re.compile(
    r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)|^[ \t]*(?:[>|]|\d+[:|]|[+-][^\s-]|\$ ).*?$|^(?: {4}|\t).*?$"
    r"|\"[^\"\n]{15,}\"|“[^”]{15,}”",
    re.MULTILINE | re.DOTALL,
)
"""Fences, quotations, tables, numbered lines, diffs, shells, indented text."""
_WRAPPED = re.compile(r"\n(?=[a-z])")
_SENTENCE = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs)\.|[^.!?;\n`]|`[^`\n]*`|\.(?=\S))+[.!?;]*")
LONGEST_SENTENCE = 600
_CLAUSE = re.compile(
    r"(?:, |: | - | [—–] |\bbecause )(?:but |and |since |as )?|\b(?P<turn>but|please) (?:please )?", re.I
)
_CONDITION = re.compile(r"(?i)(?:if|when|whenever|once|unless|in case|as soon as|while|for each)\b")
_LATER = r"for (?:the )?future|(?:for )?(?:the )?next time|in general|from now on"
_REMINDER = r"(?:remember|keep in mind|(?:the|our) (?:rule|convention) (?:here )?is)"
_OPENINGS = (
    "no|nope|stop|wait|hm+|ok(?:ay)?|oh|ah|hey|well|and|but|also|so|please|pls|again|btw|by the way|fyi|yes|as i said"
    "|like i said|looks? good|good|great|fine|nice|thanks|thank you|one more thing|generally|rule|except"
    r"|you (?:should|must|have to)|for \w+(?: \w+)?(?=:)"
)
_OPENED = re.compile(rf"(?i)\A(?:(?:{_OPENINGS})\b[\s,:—–-]*|[\s*•-]+)+")
_OPENING = re.compile(rf"(?i)\A(?:(?:{_OPENINGS}|{_LATER}|{_REMINDER}(?: that| to)?)\b[\s,:—–-]*|[\s*•-]+)+")
_REMEMBER = re.compile(
    rf"(?i)(?:rule|{_REMINDER}|{_LATER}) *[:—–] *\w|from now on\b|(?:the|our) (?:rule|convention) (?:here )?is\b"
    rf"|{_REMINDER} (?:(?:that )?(?:we|to|never|always)|that (?:the|all|every|our|each|only|an?))\b"
)
_WHOLE = r"in (?:this|the|our) (?:whole |entire )?(?:repo(?:sitory)?|project|code ?base|monorepo)"
_REPO = rf"\b(?:{_WHOLE}|ever|anywhere|around here)\b"
_FOLDER = r"\bin `?[\w.-]+/[\w./-]*`?"
_HERE = rf"(?:\bhere\b|\bin our \w|{_FOLDER}|{_REPO})"
_FORBIDDEN = re.compile(rf"(?i)\byou (?:must|should|may|can)(?: not|n['’]t)\b(?=.*{_REPO})")
_OVER = r"(?:, not | instead of | rather than |, never )"
_NO_RULE = (
    "mind been seen had got get see saw heard knew know said understood thought was were is are be have has did do "
    "does a an the nice good great happy fun again once ever so too quite in on at for to and or than worked work fail "
    "end wanted want need receive hit found felt happen crash hang lose forget miss struggle wonder wait ran made took "
    "came went wrote kept left sent built paid meant gave understand think care remember expect seem require mean"
)
_VERB = rf"(?!(?:{'|'.join(_NO_RULE.split())}|run into|run out|\w+ed|\w+ing|\w+ly|\w*[^su]s)\b)[a-z][a-z-]+\b"
_CHORES = "use|mock|commit|merge|push|edit|import|add|write|put|pin|install|deploy|name"
_DO_NOT = r"(?:do ?n['’]?t|do not)"
_RULES = tuple(re.compile(text, re.IGNORECASE) for text in (
    rf"we (?:always|never|only|must(?: not|n['’]t| never| always)) {_VERB}",
    rf"we {_DO_NOT} (?:ever )?(?:{_VERB}.*{_HERE}|(?:{_CHORES}) (?!that\b|this\b|it\b)[\w`])",
    rf"\w[^,]{{2,60}} (?:is|are|goes?|lives?|belongs?)\b.*{_HERE}.*\b(?:never|always)\b",
    rf"we (?:use|prefer|keep|put|write|name|pin|log|store)\b.*(?:{_HERE}|{_OVER})",
    rf"(?:{_DO_NOT}|avoid|no more) [a-z`].*{_REPO}",  # codespell:ignore
    rf"(?:use|prefer) .*(?:{_OVER}.*{_REPO}|{_REPO}.*{_OVER})",
    rf"\w[^,]{{2,60}} (?:(?:is|are) (?:always|never)|(?:always|never) {_VERB}) .*{_HERE}",
    r"\w[^,]{2,60} (?:is|are) (?:banned|forbidden|not allowed|off limits)\b",
    rf"{_REPO},? (?:we|use|never|always|do)\b",
    rf"(?:(?:every|all|each)\b(?=.*{_REPO})|{_FOLDER},? (?:every|all|each)\b).*\b(?:has to|have to|needs? to|must)\b",
    rf"(?!(?:i|you|it|there|this|that|they)\b)[a-z`].*{_REPO}.*\b(?:never|always)\b",
))  # fmt: skip
"""Beginnings of a rule. "Use X instead of Y here" may be said of one line, so a request needs the whole project."""
_ORDERS = tuple(re.compile(text, re.IGNORECASE) for text in (
    rf"(?:always|never) {_VERB}",
    rf"{_DO_NOT} {_VERB} (?!that\b|this\b|it\b).*\b(?:again|without)\b",
))  # fmt: skip
"""Rules that a sentence has to begin with: in a later clause they may be said of one function."""
_ONE_TIME = re.compile(
    r"(?i)\b(?:yet|for now|for the moment|this time|today|tomorrow|right now|until (?:i|we|tomorrow)|anything|"
    r"in this (?:pr|commit|branch)|just (?:tell|explain|look|read))\b"
)
_NEEDS_CONTEXT = re.compile(r"(?i)(?:we )?(?:always|never|do ?n['’]?t) \w+ (?:one|it|that|this|them|those|these)\b")
"""A rule of what the sentence before names."""
_OF_CODE = re.compile(r"(?i)\A(?:always|never) (?:return|raise|throw|show|render)\b")
"""What one function is to do, rather than who works here."""


def rules_in(prompt: str) -> Iterator[str]:
    """Yield the sentences of a prompt that are rules, without the words that open them."""
    rules: dict[str, None] = {}
    before = ""
    for match in _SENTENCE.finditer(_WRAPPED.sub(" ", _PASTED.sub("\n", prompt[:_LONGEST_RULES]))):
        sentence = " ".join(match[0].split())
        is_told = sentence.endswith("?") or len(sentence) > LONGEST_SENTENCE or _ONE_TIME.search(sentence)
        rule = "" if is_told else next(_rules_of(sentence), "")
        if rule:
            is_part = _NEEDS_CONTEXT.match(rule) and len(before) + len(rule) < LONGEST
            rules[f"{before} {rule}".strip() if is_part else rule] = None
        before = sentence
    yield from list(rules)[:MOST_RULES]


def _rules_of(sentence: str) -> Iterator[str]:
    plain = _OPENING.sub("", _FORBIDDEN.sub("never", sentence))
    is_reminder = bool(_REMEMBER.match(_OPENED.sub("", sentence)))
    clauses = [(plain, True)]
    if not _CONDITION.match(plain):
        clauses += [(plain[match.end() :], bool(match["turn"])) for match in _CLAUSE.finditer(plain)]
    for text, begins in clauses:
        fits = len(text) <= LONGEST and FEWEST_WORDS <= len(text.split()) <= MOST_WORDS and not _OF_CODE.match(text)
        if fits and (is_reminder or any(rule.match(text) for rule in (*_RULES, *(_ORDERS if begins else ())))):
            yield f"{text[:1].upper()}{text[1:]}"


def _is_printed(rule: str, outputs: Iterable[str]) -> bool:
    words = _plain(rule)
    return any(words in _plain(output) for output in outputs)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


MOST_WAITING, MOST_STEPS, MOST_CALLS = 200, 400, 20_000
MOST_PATHS = 20
LONGEST_COMMAND, LONGEST_PROMPT, LONGEST_PATTERN = 2_000, 1_000, 200
MOST_RECALLED = MOST_PRINTED = 200
Action = Literal["run", "write", "read", "search", "foreign", "other"]
_FOREIGN = re.compile(r"(?i)\A(?:mcp[_:]|.*(?:web|browser|fetch|url|http))")
_OWN_MCP = re.compile(r"(?i)\Amcp_{1,2}orbit")
_DOWNLOAD = re.compile(r"\b(?:curl|wget|lynx|httpie|https?://)")
_REJECTION = re.compile(
    r"(?i)\A\W*(?:no(?!\w| problem| worries| need)|nope|wrong|incorrect|stop|undo|revert|roll ?back|nein|falsch"
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
    printed: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_PRINTED))  # the latest outputs of tools
    is_agents: bool = False  # another agent wrote its prompts


def turns(entries: Iterable[TranscriptEntry], root: str, session: Session) -> Iterator[Turn]:
    """Yield the turns of a session, each when it ends, and fill in `session`."""
    waiting: dict[str, tuple[str, object]] = {}
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
            turn = Turn(prompt[:LONGEST_PROMPT], rules=() if session.is_agents else _rules(prompt, session))
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
            seen_calls[entry.call], waiting[entry.call] = None, (entry.tool, entry.arguments)
            if len(waiting) > MOST_WAITING:
                del waiting[next(iter(waiting))]
            if len(seen_calls) > MOST_CALLS:
                del seen_calls[next(iter(seen_calls))]
        elif entry.kind == "result" and entry.call in waiting:
            step = _step(*waiting.pop(entry.call), entry, root, session)
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


def _step(tool: str, arguments: object, result: TranscriptEntry, root: str, session: Session) -> Step:
    name = tool.casefold()
    members = arguments if isinstance(arguments, dict) else {}
    if _FOREIGN.match(tool):
        return Step("other" if _OWN_MCP.match(tool) else "foreign")
    if name in SHELLS or name == "local_shell_call":
        command = _command(arguments)
        folder = next((value for key in FOLDER_FIELDS if isinstance(value := members.get(key), str)), "")
        if folder.startswith(f"{root}/"):
            command = f"cd {shlex.quote(folder)} && {command}"
        if _DOWNLOAD.search(command):
            return Step("foreign", command[:LONGEST_COMMAND], failed=result.failed)
        call = _call(name, {**members, "command": command[:LONGEST_COMMAND]}, session)
        action: Action = "write" if call.task_class == "code" else "run"
        return Step(action, command[:LONGEST_COMMAND], _paths(call, root), failed=result.failed, output=result.text)
    call = _call(name, arguments, session)
    pattern = next((value for key in ("pattern", "query", "regex") if isinstance(value := members.get(key), str)), "")
    if name in SEARCHES:
        return Step("search", paths=_paths(call, root), pattern=pattern[:LONGEST_PATTERN], failed=result.failed)
    if name in WRITES or name in WRITING or call.task_class == "code":
        return Step("write", paths=_paths(call, root), failed=result.failed)
    action = "read" if name in READING or call.reads else "other"
    return Step(action, paths=_paths(call, root), failed=result.failed)


def _command(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    members = arguments if isinstance(arguments, Mapping) else {}
    command = next((value for key in ("command", "cmd", "script") if (value := members.get(key))), "")
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        shell = len(words) > 2 and words[0].rpartition("/")[2] in ("bash", "sh", "zsh") and words[1].startswith("-")
        return words[2] if shell else " ".join(words)
    return command if isinstance(command, str) else ""


def _call(name: str, arguments: object, session: Session) -> Call:
    call = Call("transcript", "")
    call.folder = session.folder
    take_tool(call, "bash" if name == "local_shell_call" else name, arguments)
    return call


def _paths(call: Call, root: str) -> tuple[str, ...]:
    paths = (in_project(root, call.folder or root, mention) for mention in call.paths[:MOST_PATHS])
    return tuple(dict.fromkeys(path for path in paths if path))
