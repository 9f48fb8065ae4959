"""The group of a kind: its operations of the table."""

import click

from orbit_registry.doors.cli.operations import TableGroup, filled
from orbit_registry.model.kind import Kind, load_kinds
from orbit_registry.registry import Registry

_HELP = """Write, list and change {kinds}.

`orbit accept`, `orbit reject` and `orbit retire` decide about records of every kind.

orbit {kind} list
orbit {kind} show {id}"""


def kind_of(name: str) -> Kind:
    """Return a shipped kind without looking for a workspace, else one of the workspace here."""
    kinds = load_kinds()
    if name in kinds:
        return kinds[name]
    return Registry.open().workspace.kinds[name]


def kind_group(name: str) -> click.Group:
    """Return the command group of a kind."""
    kind = kind_of(name)
    return TableGroup(name, filled(_HELP, kind), kind)
