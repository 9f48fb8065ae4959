"""What agents and people learn from work: transcripts, retros, failures, proposals, plans."""

from orbit_registry.seams import Command, Extra

extra = Extra(
    "loop",
    operations=("orbit_loop.operations",),
    checks=("orbit_loop.loop",),
    commands={
        "Write": {
            "note": Command("orbit_loop.commands:note", "Note how a piece of work went."),
            "fail": Command(
                "orbit_loop.commands:fail", "Mark a target that failed, so that it is not retried."
            ),
            "clear": Command("orbit_loop.commands:clear", "Let a failed target be tried again."),
        },
        "Review": {
            "propose": Command(
                "orbit_loop.propose:propose", "Propose changes of skills and records."
            ),
        },
        "Check": {
            "watchdog": Command(
                "orbit_loop.watch:watchdog", "Check store, log and queue, once or on a schedule."
            ),
        },
        "Learn from work": {
            "capture": Command(
                "orbit_loop.commands:capture", "Find learnings in the transcript of a session."
            ),
            "retro": Command("orbit_loop.commands:group", "Write down what came of a run."),
            "pitch": Command("orbit_loop.pitches:pitch", "Rank what could be done next."),
            "ensure": Command(
                "orbit_loop.commands:ensure_command",
                "Insert or update a program's record by its key.",
            ),
        },
    },
)
