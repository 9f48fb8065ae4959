"""Where a project is on the web."""

from orbit_registry.formats.hosting import Forge, forge_of, public_address
from orbit_registry.workspace.workspace import Workspace

_REMOTE, _LOCAL = "refs/remotes/origin/", "refs/heads/"


def forge_at(workspace: Workspace, commit: str | None) -> Forge:
    """Return the forge of a project, whose links in texts lead to the files at a commit.

    It is the configured one, else that of the remote if its host is known.
    """
    config, git = workspace.config, workspace.git
    address = config.setting("site", "repository") or public_address(git.origin())
    if not address:
        return forge_of(None, None)

    branch = config.setting("site", "branch")
    if not branch:
        branch = (git.default_branch() or "").removeprefix(_REMOTE).removeprefix(_LOCAL)

    return forge_of(address, branch, commit, config.setting("site", "forge"), git.prefix)
