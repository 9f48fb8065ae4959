"""What tests of extras share with those of the core."""

from tests.acceptance.cli.conftest import _seeded, shell
from tests.acceptance.conftest import browser, run_killed, shared, tab
from tests.unit.conftest import _plain_workspace, registry, workspace_root

__all__ = [
    "_plain_workspace",
    "_seeded",
    "browser",
    "registry",
    "run_killed",
    "shared",
    "shell",
    "tab",
    "workspace_root",
]
