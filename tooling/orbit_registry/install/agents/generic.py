"""Any tool that can run a command: the hook is a script that it starts, with an object in and an object out."""

from orbit_registry.agents.agent import PATH, ROOT, SESSION, TEXT, Agent, SettingsFile, flat
from orbit_registry.install.command_file import CommandFile, in_shell, of_shell

FORMAT = CommandFile("generic_hook.sh", in_shell, of_shell)

AGENT = Agent(
    name="generic",
    title="Any other tool",
    evidence="what it takes and answers is our own, and published as a schema",
    settings={"local": SettingsFile(".orbit/state/hook-generic.sh", FORMAT)},
    payload={
        "event": "tool",
        "session": SESSION,
        "cwd": ROOT,
        "tool": "edit",
        "input": {"file_path": PATH},
    },
    event="tool",
    replies=flat(
        ("tool", "tool-done", "tool-failed", "prompt", "session-start", "subagent-start"), "context", message=TEXT
    ),
    texts=(("context",),),
    after="Let your tool run `sh .orbit/state/hook-generic.sh` with the call on its standard input.",
)
