"""Names of repositories in a lake: from their remotes and their addresses."""

import os
import re
from urllib.parse import unquote

from orbit_registry.workspace.config import Extension, without_user
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import Workspace

_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://(?:\S*@)?(?P<host>\[[^\]]*\]|[^/:]*)[^/]*"
    r"|(?:[^/@]*@)?(?P<scp_host>\[[^\]/]+\]|[^/@:]+):)?(?P<path>.*)",
    re.DOTALL | re.IGNORECASE,
)
"""An address of git: a URL, `user@host:path`, or a path."""
_SCP_USER = re.compile(r"(?<![\w/])[^/\s@:]+:[^/\s@]+@(?=[^/\s@:]+:)")
"""User and password of `ada:secret@host:path`."""
_ODD = re.compile(r"[^A-Za-z0-9._/+~-]+")
"""What a name of a repository can't have."""


def repository_name(workspace: Workspace) -> str:
    """Return the name of a repository: the path of its remote, else the project's;
    with the folder in a monorepo.
    """
    name = path_in(workspace.git.origin() or "") or workspace.name
    return "/".join(filter(None, (name, workspace.git.prefix.strip("/"))))


def source_repository(source: Extension) -> str:
    """Return the name under which a source of records pushes itself."""
    return source.repository or path_in(source.address) or source.name


def origin_of(git: Git) -> str:
    """Return host and path of the remote `origin`, without user and port; "" if it has no host."""
    return origin_in(git.origin() or "")


def origin_in(address: str) -> str:
    """Return host and path of an address of git, without user and port; "" if it has no host."""
    host, path = _host_and_path(address)
    if host:
        return f"{host}/{path}".lower()

    return ""


def public(text: str) -> str:
    """Return an address, or a message that has one, without user and password."""
    return _SCP_USER.sub("", without_user(text))


def path_in(address: str) -> str:
    """Return the path of an address, on its host or on this machine, as a name of a repository:
    `example/shop`, `srv/git/shop`, `example/My-Project`.
    """
    return _ODD.sub("-", unquote(_host_and_path(address)[1])).strip("./-")


def _host_and_path(address: str) -> tuple[str, str]:
    """Return the host of an address of git, without user and port, and the path there;
    "" for what it lacks.
    """
    match = _ADDRESS.fullmatch(address)
    assert match is not None  # it takes any text for a path
    return match["host"] or match["scp_host"] or "", match["path"].strip("/").removesuffix(".git")


def without_prompts() -> dict[str, str]:
    """Return variables by which ssh asks for no password: no one may be there to answer, or several
    repositories ask at once.
    """
    if {"GIT_SSH", "GIT_SSH_COMMAND"} & os.environ.keys():
        return {}

    return {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}
