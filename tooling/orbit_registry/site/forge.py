"""Owns addresses at the place the repository is hosted: source and edit links; it asks nobody whether they exist."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from orbit_registry.values import dataclass


@dataclass(frozen=True, slots=True)
class Forge:
    """A hosted repository and the branch its links show; without a repository there are no links.

    `commit` is the one the site is built at: a link to a line, or in a text, leads to the file as it is there.
    """

    repository: str | None
    branch: str
    commit: str | None = None

    def view(self, path: str) -> str | None:
        """Return where a file of the repository can be read as it is now."""
        return self._address("blob", path, self.branch)

    def edit(self, path: str) -> str | None:
        """Return where a file of the repository can be edited."""
        return self._address("edit", path, self.branch)

    def built(self, path: str, *, folder: bool = False, line: int | None = None) -> str | None:
        """Return where a file, its line or a folder can be read as it was when the site was built."""
        address = self._address("tree" if folder else "blob", path, self.commit or self.branch)
        if address is None or line is None:
            return address
        return f"{address}#lines-{line}" if "bitbucket" in self._host else f"{address}#L{line}"

    @property
    def _host(self) -> str:
        return urlsplit(self.repository or "").hostname or ""

    def _address(self, action: str, path: str, revision: str) -> str | None:
        if self.repository is None:
            return None
        where = f"{quote(revision)}/{quote(path)}"
        if "gitlab" in self._host:
            return f"{self.repository}/-/{action}/{where}"
        if "bitbucket" in self._host:
            return f"{self.repository}/src/{where}" + ("?mode=edit" if action == "edit" else "")
        if any(name in self._host for name in ("codeberg", "gitea", "forgejo")):
            named = "commit" if revision == self.commit else "branch"
            return f"{self.repository}/{'_edit' if action == 'edit' else f'src/{named}'}/{where}"
        return f"{self.repository}/{action}/{where}"


def forge_of(repository: object, branch: object, commit: str | None = None) -> Forge:
    """Return the forge that the configuration names; anything but a web address counts as none."""
    address = str(repository or "").rstrip("/").removesuffix(".git")
    known = urlsplit(address).scheme in ("http", "https") and bool(urlsplit(address).netloc)
    return Forge(address if known else None, str(branch or "main"), commit)
