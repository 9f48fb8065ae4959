"""The lake: records of many repositories as Parquet files, and questions about all of them."""

from orbit_registry.seams import Command, Extra

extra = Extra(
    "fleet",
    commands={
        "Publish": {
            "fleet": Command("orbit_fleet.commands:group", "Ask one question of many repositories.")
        }
    },
)
