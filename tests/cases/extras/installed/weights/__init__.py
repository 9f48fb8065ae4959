"""A package of somebody else: it weighs records."""

from orbit_registry.seams import Command, Extra, Page, Table

extra = Extra(
    "weights",
    operations=("weights.operations",),
    checks=("weights.checks",),
    commands={"Find": {"scales": Command("weights.scales:command", "Show the scales.")}},
    kinds="weights",
    exporters=("weights.exporter",),
    importers=("weights.importer",),
    pages={
        "weights": Page(
            "Weights",
            "What the records of {} weigh",
            wanted="weights.scales:is_wanted",
            html="weights.scales:html",
            markdown="weights.scales:markdown",
        )
    },
    tables={
        "weights": Table(
            sql="CREATE TABLE weights (record_id VARCHAR NOT NULL, grams INTEGER NOT NULL)",
            rows="weights.scales:rows",
        )
    },
)
