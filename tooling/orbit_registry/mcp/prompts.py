"""Prompts and resources that an MCP host offers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from orbit_registry.errors import RecordNotFoundError, UsageError
from orbit_registry.mcp.dispatch import harmless
from orbit_registry.mcp.read_tools import brief, clean, show
from orbit_registry.mcp.tool import Caller, ToolCall
from orbit_registry.registry import Registry

LONGEST = 20_000
Words = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Prompt of a host's menu; `arguments` maps a name to its description and whether it is required."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, tuple[str, bool]]
    text: Callable[[Registry, Caller, Words], str]


def prompt_text(name: str, registry: Registry, caller: Caller, words: Words) -> str:
    """Return the text of a prompt."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise UsageError(f"there is no prompt {name!r}", hint=f"prompts: {', '.join(PROMPTS)}")
    names = ", ".join(prompt.arguments)
    missing = [
        argument for argument, (_, needed) in prompt.arguments.items() if needed and not words.get(argument, "").strip()
    ]
    unknown = sorted(words.keys() - prompt.arguments.keys())
    if missing or unknown:
        problem = f"`{missing[0]}` is missing" if missing else f"unknown argument `{unknown[0]}`"
        raise UsageError(f"{name}: {problem}", hint=f"arguments: {names}")
    if sum(map(len, words.values())) > LONGEST:
        raise UsageError(f"{name}: the arguments are too long", hint=f"at most {LONGEST:,} characters")
    return prompt.text(registry, caller, words)


def _brief(registry: Registry, caller: Caller, words: Words) -> str:
    paths = [path for path in words.get("paths", "").replace(",", " ").split() if path]
    call = ToolCall(registry, caller, {"text": words["task"], "paths": paths})
    return f"The task:\n\n{words['task']}\n\n{brief(call).text}\n\n{_AFTER_BRIEF}"


_AFTER_BRIEF = (
    "Read a record whole with `show` before you work on what it is about. When one of them helped, say so with "
    "`vote` and the task's id; when you learned something that would have helped, propose it with `add`."
)


def _review(registry: Registry, caller: Caller, words: Words) -> str:
    text = harmless(show(ToolCall(registry, caller, {"id": words["id"]})).text)
    return f"Review this record of the project.\n\n{text}\n\n{_REVIEW}"


_REVIEW = """Say, with the file and line you saw it in:
1. Does it still hold? Look at the files its scope names, and at what they do today.
2. Is it clear to a reader who was not there: what was decided or learned, why, and what it costs?
3. Does another record contradict it or say the same? Use `search` and `match`.
4. Is its scope right: neither files it has nothing to do with, nor files it should name and does not?
If it should change, propose that with `add` and its id; a person decides."""


def _learn(registry: Registry, caller: Caller, words: Words) -> str:
    return f"What happened:\n\n{words['what']}\n\n{_LEARN}"


_LEARN = """Write down what of this saves the next person from learning it again, if anything does.
1. `search` for it first. If a record says it already, `vote` for that one and stop.
2. One rule of conduct in one sentence (`summary`), why and what shows it (`body`), and the files it holds for
   (`scope.paths`, as narrow as possible).
3. Propose it with `add`, kind `learning`; look at the nearest records it returns before you confirm."""

PROMPTS: Mapping[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "brief",
            "Brief for a task",
            "Begin a task with what the project has decided and learned about it.",
            {
                "task": ("The task in words.", True),
                "paths": ("Files it is about, from the project's root, separated by spaces.", False),
            },
            _brief,
        ),
        Prompt(
            "review",
            "Review a record",
            "Check whether a decision or a learning is still true and clear.",
            {"id": ("The record's id.", True)},
            _review,
        ),
        Prompt(
            "learn",
            "Write down a learning",
            "Turn what just happened into a learning, or a vote for one that is there.",
            {"what": ("What happened, in a few sentences.", True)},
            _learn,
        ),
    )
}


START = "orbit://record/"
RESOURCE_TEMPLATE = f"{START}{{id}}"
RESOURCE_TYPE = "text/plain"
PAGE = 100


def resource_page(registry: Registry, start: int) -> tuple[list[dict[str, str]], int | None]:
    """Return one page of the live records as fields of resources, and where the next page starts."""
    live = [record for record in registry.collection.records if record.phase == "live"]
    entries = []
    for listed in live[start : start + PAGE]:
        record = clean(listed)
        description = f"{record.kind.label}, {record.status.word}"
        title = str(harmless(record.title))
        entries.append({
            "uri": f"{START}{record.id}", "name": record.id, "title": title, "description": description,
            "mime_type": RESOURCE_TYPE,
        })  # fmt: skip
    following = start + PAGE
    return entries, following if following < len(live) else None


def resource_text(registry: Registry, uri: str, caller: Caller) -> str:
    """Return the text of a resource URI."""
    any_id = uri.removeprefix(START)
    if not any_id or any_id == uri:
        raise RecordNotFoundError(f"{uri!r} is not a resource here", hint=f"resources are {RESOURCE_TEMPLATE}")
    return str(harmless(show(ToolCall(registry, caller, {"id": any_id})).text))
