"""Checks that records state in `checks:`: closed kinds, verified examples, no code.

Imported if a record has one.
"""

from orbit_registry.seams import Extra, Page, Table

extra = Extra(
    "enforce",
    operations=("orbit_enforce.operations",),
    checks=("orbit_enforce.enforcement",),
    record_checks="orbit_enforce.runner",
    checks_on_pages="orbit_enforce.pages:checks_by_record",
    pages={
        "enforced": Page(
            "Enforcement",
            "Which decisions of {} are enforced by checks",
            wanted="orbit_enforce.pages:is_wanted",
            html="orbit_enforce.pages:enforced_html",
            markdown="orbit_enforce.pages:enforced_markdown",
        )
    },
    tables={
        "record_checks": Table(
            sql="CREATE TABLE record_checks (record_id VARCHAR NOT NULL, "
            "check_name VARCHAR NOT NULL, kind VARCHAR NOT NULL, level VARCHAR NOT NULL, "
            "asks VARCHAR NOT NULL)",
            rows="orbit_enforce.spec:rows_of_checks",
        )
    },
)
