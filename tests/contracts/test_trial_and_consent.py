"""Each command that writes more than one record, or deletes, has `--dry-run` and takes `--yes`."""

import pytest
from tests.contracts.test_earlier_names import command_at, flags_of

WRITERS = """
accept
adr accept
adr backfill
adr deprecate
adr reject
adr renumber
adr supersede
apply
check
failure clear
fleet remove
hook uninstall
import records
init
learning migrate-layout
learning promote
learning retire
learning supersede
learning prune
leave
lessons promote
lessons rm
mcp uninstall
proposal done
propose
refresh
reject
resolve
retire
scope suggest
verify
""".strip().splitlines()


@pytest.mark.parametrize("name", WRITERS)
def test_it_can_be_tried_and_agreed_to(name: str) -> None:
    command = command_at(name.split())
    assert command is not None
    assert {"--dry-run", "--yes"} <= flags_of(command)
