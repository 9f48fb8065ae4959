"""What agents and people learn from work: transcripts, retros, failures, proposals, plans."""

from orbit_registry.seams import Command, Extra

extra = Extra(
    "loop",
    operations=(
        "orbit_loop.answers.note",
        "orbit_loop.answers.failures",
        "orbit_loop.answers.propose",
        "orbit_loop.answers.apply",
        "orbit_loop.answers.watchdog",
        "orbit_loop.answers.capture",
        "orbit_loop.answers.retro",
        "orbit_loop.answers.pitch",
        "orbit_loop.answers.ensure",
    ),
    checks=("orbit_loop.loop",),
    commands={
        "Learn from work": {
            "retro": Command("orbit_loop.commands:group", "Write down what came of a run."),
        },
    },
    ways={
        "check --loop": "orbit_loop.loop:check_loop",
        "brief --for plan": "orbit_loop.answers.plan:plan",
    },
    tools="orbit_loop",
    kinds="orbit_loop",
)
