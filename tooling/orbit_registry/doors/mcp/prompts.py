"""Prompts and resources that an MCP host offers."""

from collections.abc import Mapping
from typing import Any

from orbit_registry.doors.answers.brief import brief
from orbit_registry.doors.answers.call import Call, Caller
from orbit_registry.doors.answers.records import clean
from orbit_registry.doors.answers.show import show
from orbit_registry.doors.mcp.dispatch import harmless
from orbit_registry.doors.render.blocks import rendered
from orbit_registry.errors import RecordNotFoundError, UsageError
from orbit_registry.formats import yaml
from orbit_registry.registry import Registry

LONGEST = 20_000
Words = Mapping[str, str]


PROMPTS: Mapping[str, Any] = yaml.table_of(__file__, "prompts.yaml")
"""Name of each prompt → its title, description, arguments and text."""


def prompt_text(name: str, registry: Registry, caller: Caller, words: Words) -> str:
    """Return the text of a prompt."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise UsageError(f"there is no prompt {name!r}", hint=f"prompts: {', '.join(PROMPTS)}")

    arguments = prompt["arguments"]
    missing = [
        key
        for key, form in arguments.items()
        if form["required"] and not words.get(key, "").strip()
    ]

    unknown = sorted(words.keys() - arguments.keys())
    if missing or unknown:
        problem = f"`{missing[0]}` is missing" if missing else f"unknown argument `{unknown[0]}`"
        raise UsageError(f"{name}: {problem}", hint=f"arguments: {', '.join(arguments)}")

    if sum(map(len, words.values())) > LONGEST:
        raise UsageError(
            f"{name}: the arguments are too long", hint=f"at most {LONGEST:,} characters"
        )

    added = {}
    if name == "brief":
        paths = [path for path in words.get("paths", "").replace(",", " ").split() if path]
        call = Call(lambda: registry, caller=caller)
        added["records"] = rendered(brief(call, text=words["task"], paths=tuple(paths)).text)
    elif name == "review":
        added["record"] = _shown(registry, caller, words["id"])

    return str(prompt["text"]).format(**words, **added)


START = "orbit://record/"
RESOURCE_TEMPLATE = f"{START}{{id}}"
RESOURCE_TYPE = "text/plain"
PAGE = 100


def resource_page(registry: Registry, start: int) -> tuple[list[dict[str, str]], int | None]:
    """Return one page of the live records as fields of resources,
    and where the next page starts.
    """
    live = [record for record in registry.collection.records if record.phase == "live"]
    entries = []
    for listed in live[start : start + PAGE]:
        record = clean(listed)
        description = f"{record.kind.label}, {record.status.word}"
        title = str(harmless(record.title))
        entries.append(
            {
                "uri": f"{START}{record.id}",
                "name": record.id,
                "title": title,
                "description": description,
                "mime_type": RESOURCE_TYPE,
            }
        )

    following = start + PAGE
    return entries, following if following < len(live) else None


def resource_text(registry: Registry, uri: str, caller: Caller) -> str:
    """Return the text of a resource URI."""
    any_id = uri.removeprefix(START)
    if not any_id or any_id == uri:
        raise RecordNotFoundError(
            f"{uri!r} is not a resource here", hint=f"resources are {RESOURCE_TEMPLATE}"
        )
    return _shown(registry, caller, any_id)


def _shown(registry: Registry, caller: Caller, any_id: str) -> str:
    answer = show(Call(lambda: registry, caller=caller), any_id)
    return str(harmless(rendered(answer.text)))
