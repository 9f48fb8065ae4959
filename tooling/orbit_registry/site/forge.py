"""Owns addresses at the place the repository is hosted: source and edit links; it asks nobody whether they exist."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit


@dataclass(frozen=True, slots=True)
class Forge:
    """A hosted repository and the branch its links show; without a repository there are no links."""

    repository: str | None
    branch: str

    def view(self, path: str, *, folder: bool = False) -> str | None:
        """Return where a file or folder of the repository can be read."""
        return self._address("tree" if folder else "blob", path)

    def edit(self, path: str) -> str | None:
        """Return where a file of the repository can be edited."""
        return self._address("edit", path)

    def _address(self, action: str, path: str) -> str | None:
        if self.repository is None:
            return None
        host = urlsplit(self.repository).hostname or ""
        where = f"{quote(self.branch)}/{quote(path)}"
        if "gitlab" in host:
            return f"{self.repository}/-/{action}/{where}"
        if "bitbucket" in host:
            return f"{self.repository}/src/{where}" + ("?mode=edit" if action == "edit" else "")
        if any(name in host for name in ("codeberg", "gitea", "forgejo")):
            verb = "_edit" if action == "edit" else "src/branch"
            return f"{self.repository}/{verb}/{where}"
        return f"{self.repository}/{action}/{where}"


def forge_of(repository: object, branch: object) -> Forge:
    """Return the forge that the configuration names; anything but a web address counts as none."""
    address = str(repository or "").rstrip("/").removesuffix(".git")
    known = urlsplit(address).scheme in ("http", "https") and bool(urlsplit(address).netloc)
    return Forge(address if known else None, str(branch or "main"))
