"""`trust`: the commands that a configuration names, and what a person allowed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import OrbitError, RefusedError, UsageError
from orbit_registry.workspace import trusted_commands
from orbit_registry.workspace.author import acting_role
from orbit_registry.workspace.workspace import Workspace

Commands = Mapping[str, Sequence[str]]


class _Configured:
    """The commands that the configuration names, their files, and whether each is allowed."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.words = {
            **trusted_commands.configured_commands(workspace),
            **_site_code(workspace.root),
        }
        self.files: dict[str, Mapping[str, str]] = {}
        self.states: dict[str, str] = {}
        for key, words in self.words.items():
            self.files[key] = trusted_commands.files_of(workspace, words)
            self.states[key] = trusted_commands.permission_state(workspace, key, words)

    @property
    def listing(self) -> str:
        """What a person reads before the answer."""
        return "\n".join(_command_lines(self.words, self.states, self.files))

    def as_data(self, state: str = "") -> dict[str, object]:
        """Return them as JSON shows them; with a state, all are in that."""
        rows: dict[str, object] = {}
        for key, known in self.states.items():
            row = {"words": self.words[key], "files": self.files[key], "state": state or known}
            rows[key] = row

        return {"commands": rows}


@operation("trust", job="Set up", writes=True)
def trust(call: Call, yes: bool = False, listed: bool = False, revoke: bool = False) -> Answer:
    """Allow the commands that the configuration names.

    None of them runs before. A command that changes needs a new permission, and so does one that
    names a changed file of the repository. Permissions are in your own configuration folder.

    orbit trust
    orbit trust --format json      # look without being asked
    orbit trust --list
    orbit trust --revoke

    Args:
        yes: Allow without asking.
        listed --list: List what you allowed, in every repository.
        revoke: Remove all permissions here.
    """
    if yes + listed + revoke > 1:
        raise UsageError("--yes, --list and --revoke exclude each other", hint="give one of them")

    if listed:
        every = dict(trusted_commands.allowed_repositories())
        parts = ["\n".join([root, *_command_lines(words)]) for root, words in every.items()]
        return Answer({"repositories": every}, "\n\n".join(parts) or "nothing is allowed anywhere")

    if revoke:
        was = trusted_commands.revoke(call.workspace)
        text = "no command is allowed here any more" if was else "no command was allowed here"
        return Answer({"revoked": was}, text)

    configured = _Configured(call.workspace)
    if set(configured.states.values()) <= {"allowed"}:
        text = "the configuration names no command"
        if configured.states:
            text = f"{configured.listing}\nall of them are allowed"

        return Answer(configured.as_data(), text)

    # To look is not to ask: a program or an agent may see what waits for a person.
    if call.form == "json" and not yes:
        return Answer(configured.as_data(), "", ["orbit trust"])

    return _allowed(call, configured, yes)


def _allowed(call: Call, configured: _Configured, yes: bool) -> Answer:
    """Allow what the configuration names, if a person agrees."""
    if acting_role() == "agent":
        raise RefusedError(
            "an agent can't allow commands", hint="a person runs `orbit trust` in a terminal"
        )

    listing = f"{call.workspace.root}\n{configured.listing}"
    if not yes and call.person is None:
        hint = "read them, then `orbit trust --yes`"
        refusal = RefusedError("there is no terminal to ask in", hint=hint)
        return Answer(configured.as_data(), listing, refused=[refusal])

    if not yes and call.person is not None:
        call.person.confirm(listing, "Run these commands when they are needed?")
        listing = ""

    file = trusted_commands.allow(call.workspace, configured.words, configured.files)
    text = f"{listing}\nallowed, in {file}".lstrip("\n")
    return Answer(configured.as_data("allowed"), text, ["orbit trust --revoke"])


def _site_code(root: Path) -> Mapping[str, tuple[str, ...]]:
    if not (root / "mkdocs.yml").is_file():
        return {}

    try:
        from orbit_registry.site.config import FILE, read_user_config

        config = read_user_config(root)
    except (ImportError, OrbitError):
        return {}

    if config is not None and config.code_settings:
        return {FILE: config.code_settings}

    return {}


def _command_lines(
    commands: Commands,
    states: Mapping[str, str] | None = None,
    files: Mapping[str, Mapping[str, str]] | None = None,
) -> Iterator[str]:
    for key in sorted(commands):
        head = f"{key} ({states[key]})" if states else key
        yield f"  {head}: {json.dumps(commands[key])}"
        for path, digest in sorted((files or {}).get(key, {}).items()):
            yield f"    {json.dumps(path)}  {digest[:16]}"
