"""Messages by apprise about records that wait, each sent once.

The addresses are in the environment.
"""

import importlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from orbit_registry.errors import ConfigError, DeliveryError
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.hook.project import private_folder
from orbit_registry.workspace.files import read_object, write_atomic
from orbit_registry.workspace.workspace import Workspace

PLACES = "ORBIT_NOTIFY_URLS"
MEMORY = "notified.json"
MOST = 20  # so many are told in one message; the others are counted, and told the next time
LONGEST = 200
_ACTED_ON = re.compile(r"@(?=(?:all|channel|everyone|here)\b)|<(?=[!@#]|https?:)|\](?=\()", re.I)
"""With what chats call everybody or hide where a link leads."""
_EXTRA = "install the extra `orbit-registry[notify]`"


def plain(text: str) -> str:
    """Return a text as one line without secrets and without what a terminal or a chat would
    act on.
    """
    line = _ACTED_ON.sub(r"\g<0> ", " ".join(without_secrets(text).split()))
    return "".join(character for character in line if character.isprintable())[:LONGEST]


def _clean(text: str) -> str:
    """Return the lines of a text, each as `plain` makes it, indented as before."""
    lines = [f"{line[: len(line) - len(line.lstrip())]}{plain(line)}" for line in text.split("\n")]
    return "\n".join(lines)


def notify(workspace: Workspace, topic: str, texts: Mapping[str, str]) -> int:
    """Send the texts that were not sent before, by key; return how many.

    Nothing is remembered if it did not arrive.
    """
    addresses = os.environ.get(PLACES, "").split()
    if not addresses:
        # Also without news, so that a schedule without an address is noticed at once.
        hint = (
            f"{PLACES}='mailto://… slack://…': https://github.com/caronc/apprise/wiki lists "
            f"the forms"
        )
        raise ConfigError(f"no address to notify: {PLACES} is empty", hint=hint)

    memory = Path(private_folder(str(workspace.root), "log")) / MEMORY
    delivered = _delivered(memory)
    old = [key for key in delivered.get(topic, ()) if key in texts]
    fresh = [key for key in texts if key not in old]
    sent = fresh[:MOST]

    if sent:
        parts = [_clean(texts[key]) for key in sent]
        if len(fresh) > MOST:
            parts.append(f"… and {len(fresh) - MOST} more")
        _deliver(addresses, f"{plain(workspace.name)}: {topic}", "\n\n".join(parts))

    write_atomic(memory, json.dumps({**delivered, topic: [*old, *sent]}))
    return len(sent)


def _delivered(memory: Path) -> dict[str, list[str]]:
    stored = read_object(memory, limit=10_000_000)
    return {topic: [*map(str, keys)] for topic, keys in stored.items() if isinstance(keys, list)}


def _deliver(addresses: Sequence[str], title: str, body: str) -> None:
    try:
        library = importlib.import_module("apprise")
    except ImportError:
        raise ConfigError("apprise is not installed", hint=_EXTRA) from None

    sender = library.Apprise()
    for number, address in enumerate(addresses, 1):
        if not sender.add(address):
            # An address may hold a password, so that none is printed.
            raise ConfigError(
                f"address {number} of {PLACES} is not a service that apprise knows",
                hint="see its wiki for forms",
            )

    if not sender.notify(title=title, body=body, body_format=library.NotifyFormat.TEXT):
        raise DeliveryError(
            "not everybody could be told", hint="see that the addresses answer, and try again"
        )
