"""`orbit init --demo`: a small project with decisions, learnings and a rule, to try the commands on."""

from __future__ import annotations

import shutil
from pathlib import Path

from orbit_registry.errors import UsageError
from orbit_registry.model.kind import KindTable
from orbit_registry.operations.adoption import backfill
from orbit_registry.operations.init import setup_workspace
from orbit_registry.operations.lifecycle import transition
from orbit_registry.repository.writer import create_record
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import write_atomic
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import open_workspace

AUTHOR = Author("Ada", "human")
COMMANDS = (
    "orbit list", "orbit match src/importer/read.py", "orbit show ADR-0003", "orbit search 'charged twice'",
    "orbit check",
)  # fmt: skip
"""What to try first, in the order of a first visit."""
FILES = {
    "README.md": "# Parcel\n\nReads orders from shops and charges them. Made by `orbit init --demo` to try Orbit on.\n",
    "src/importer/read.py": (
        '"""Read the orders of a shop."""\n\nimport json\n\n\ndef read(path: str) -> list[dict[str, str]]:\n'
        '    with open(path, encoding="utf-8") as file:\n        return json.load(file)\n'
    ),
    "src/billing/charge.py": (
        '"""Charge an order once."""\n\n\ndef charge(order: dict[str, str], key: str) -> str:\n'
        '    return f"charged {order[\'id\']} ({key})"\n'
    ),
    "tests/test_charge.py": (
        'from src.billing.charge import charge\n\n\ndef test_an_order_is_charged() -> None:\n'
        '    assert charge({"id": "7"}, "k") == "charged 7 (k)"\n'
    ),
    "docs/adr/0001-store-orders-in-files.md": """\
# 1. Store orders in files

Date: 2026-01-12

## Status

Superseded by [ADR-0003](0003-store-orders-in-sqlite.md)

## Context

A shop sends a few orders a day.

## Decision

One JSON file holds the orders of a day.

## Consequences

Two writers at a time lose orders.
""",
    "docs/adr/0002-charge-with-an-idempotency-key.md": """\
# 2. Charge with an idempotency key

Date: 2026-02-03

## Status

Accepted

## Context

The payment service retries after a timeout.

## Decision

Each charge has a key that is made of the order's id.

## Consequences

The service refuses a repeated charge.
""",
    "docs/adr/0003-store-orders-in-sqlite.md": """\
# 3. Store orders in SQLite

Date: 2026-03-20

## Status

Accepted

Supersedes [ADR-0001](0001-store-orders-in-files.md)

## Context

Two importers run at once since March.

## Decision

Orders are rows of one SQLite database.

## Consequences

A backup copies one file. Writers wait for each other.
""",
}  # fmt: skip
RECORDS = (
    ("learning", "A retried upload charges twice without an idempotency key", "src/billing/**"),
    ("learning", "Order files of shops end with a byte order mark; read them as utf-8-sig", "src/importer/**"),
    ("learning", "SQLite needs a timeout of five seconds while the nightly import runs", "src/importer/**"),
    ("learning", "The payment sandbox refuses amounts below one euro", "tests/**"),
    ("rule", "Never log card numbers, not even in tests", "src/billing/**"),
)
"""Kind, summary and paths of each record."""
RATIONALE = "A log is read by more people than may see a card."
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false")


def make_demo(folder: Path, kinds: KindTable) -> Path:
    """Make the project in a new or empty folder, as a git repository with one commit."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty", hint="name a folder that does not exist yet")
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    root = folder.resolve()
    try:
        _fill(root, kinds)
    except BaseException:
        for entry in root.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        if is_new:
            root.rmdir()
        raise
    return root


def _fill(root: Path, kinds: KindTable) -> None:
    for path, text in FILES.items():
        write_atomic(root / path, text)
    git = Git(root)
    git.run("init", "-q")
    git.run("add", "-A")
    setup_workspace(root, kinds)
    workspace = open_workspace(root)
    backfill(workspace)
    for kind, summary, glob in RECORDS:
        headline = workspace.kinds[kind].headline
        fields = {headline: summary, "scope": {"paths": [glob]}, **({"rationale": RATIONALE} if kind == "rule" else {})}
        record = create_record(workspace, workspace.kinds[kind], AUTHOR, fields)
        if kind == "rule":
            transition(workspace, record.id, "approved", AUTHOR)
    git.run("add", "-A")
    git.run("commit", "-qm", "Import and charge orders", settings=IDENTITY)
