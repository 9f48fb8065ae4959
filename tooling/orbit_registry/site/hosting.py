"""Source and edit links at the host of the repository.

A forge is a row of `FORMS`, chosen by the setting `site.forge`, the host's name or the form of the address.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit


@dataclass(frozen=True, slots=True)
class Form:
    """How a forge names its pages: templates of what follows the repository's address; None where it has no such page.

    `at` of a file or folder is `branch` or `commit`, filled. `in_query` says that a slash in a branch's name is
    percent-encoded.
    """

    file: str
    folder: str
    edit: str | None
    line: str
    branch: str = "{}"
    commit: str = "{}"
    in_query: bool = False
    change: str = "/commit/{}"
    """The page of a commit."""


MOST_WRITTEN = "#L{line}"
_LINES = re.compile(r"L(\d{1,9})(?:C\d+)?(?:-L?\d+(?:C\d+)?)?")
_GITEA = Form(
    "/src/{at}/{path}", "/src/{at}/{path}", "/_edit/{revision}/{path}", MOST_WRITTEN, "branch/{}", "commit/{}"
)
FORMS: Mapping[str, Form] = {
    "github": Form("/blob/{at}/{path}", "/tree/{at}/{path}", "/edit/{at}/{path}", MOST_WRITTEN),
    "gitlab": Form(
        "/-/blob/{at}/{path}", "/-/tree/{at}/{path}", "/-/edit/{at}/{path}", MOST_WRITTEN, change="/-/commit/{}"
    ),
    "gitea": _GITEA,
    "forgejo": _GITEA,
    "bitbucket": Form(
        "/src/{at}/{path}", "/src/{at}/{path}", "/src/{at}/{path}?mode=edit", "#lines-{line}", change="/commits/{}"
    ),
    "bitbucket-server": Form(
        "/browse/{path}?at={at}", "/browse/{path}?at={at}", None, "#{line}", "refs%2Fheads%2F{}", in_query=True,
        change="/commits/{}",
    ),
    "azure": Form(
        "?path=/{path}&version={at}", "?path=/{path}&version={at}", "?path=/{path}&version={at}&_a=contents",
        "&line={line}&lineEnd={next}&lineStartColumn=1&lineEndColumn=1", "GB{}", "GC{}", in_query=True,
    ),
    "sourcehut": Form("/tree/{at}/item/{path}", "/tree/{at}/item/{path}", None, MOST_WRITTEN),
    "gitiles": Form("/+/{at}/{path}", "/+/{at}/{path}", None, "#{line}", change="/+/{}"),
}  # fmt: skip
_BY_ADDRESS = (
    ("azure", re.compile(r"(?:^|\.)(?:dev\.azure\.com|visualstudio\.com)/|/_git/")),
    ("bitbucket-server", re.compile(r"/(?:projects|users)/[^/]+/repos/|/scm/")),
    ("bitbucket", re.compile(r"^bitbucket\.org/")),
    ("gitlab", re.compile(r"^[^/]*gitlab")),
    ("gitea", re.compile(r"^[^/]*(?:codeberg|gitea|forgejo)")),
    ("sourcehut", re.compile(r"^git\.(?:[^/]+\.)?sr\.ht/")),
    ("gitiles", re.compile(r"^[^/]+\.googlesource\.com/|/plugins/gitiles/")),
)
"""What tells a forge by a repository's host and path; any other is taken for one like GitHub."""
_PLAIN = re.compile(r"(?:[^@/\s]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+)[:/](?P<path>[^\s]+)\Z")
"""What git takes without a scheme, `git@host.org:path`, and what people write so: `host.org/path`."""
_AZURE_SSH = re.compile(r"(?:vs-)?ssh\.(?:dev\.azure|visualstudio)\.com/v3/(?P<project>[^/]+/[^/]+)/(?P<name>[^/]+)")
_CLONED = re.compile(r"(?!.*/repos/)(?P<context>.+?)(?:/scm)?/(?P<project>[^/]+)/(?P<name>[^/]+)\Z")


@dataclass(frozen=True, slots=True)
class Forge:
    """A hosted repository and the branch its links show; without a repository there are no links.

    `commit` is the one the site is built at: a link to a line, or in a text, leads to the file at that commit.
    """

    repository: str | None
    branch: str
    commit: str | None = None
    form: Form = FORMS["github"]
    folder: str = ""
    """Folder of the workspace in the repository; paths are from the workspace, and leave it with `..`."""

    def view(self, path: str) -> str | None:
        """Return the address of a file at the branch."""
        return self._address(self.form.file, path, None)

    def edit(self, path: str) -> str | None:
        """Return where a file of the repository can be edited."""
        return self._address(self.form.edit, path, None)

    def built(self, path: str, *, folder: bool = False, line: int | None = None) -> str | None:
        """Return where a file, its line or a folder can be read as it was when the site was built."""
        template = self.form.folder if folder else self.form.file
        end = "" if line is None else self.form.line.format(line=line, next=line + 1)
        address = self._address(template, path, self.commit)
        return None if address is None else address + end

    def linked(self, path: str, fragment: str, *, folder: bool = False) -> str | None:
        """Return the address of a file or folder with a fragment, often a line (`#L7`)."""
        if not folder and (line := _LINES.fullmatch(fragment)) and self.form.line != MOST_WRITTEN:
            return self.built(path, line=int(line[1]))
        address = self.built(path, folder=folder)
        return f"{address}#{fragment}" if address is not None and fragment else address

    def change(self, commit: str) -> str | None:
        """Return where a commit can be read."""
        return None if self.repository is None else f"{self.repository}{self.form.change.format(quote(commit))}"

    def holds(self, path: str) -> bool:
        """Say whether a path, as `posixpath.normpath` writes it, is one of the repository."""
        return not self._placed(path).startswith("..")

    def _placed(self, path: str) -> str:
        """Return a path from the repository's root, empty for the root itself."""
        placed = posixpath.normpath(posixpath.join(self.folder, path))
        return "" if placed == "." else placed

    def _address(self, template: str | None, path: str, commit: str | None) -> str | None:
        if self.repository is None or template is None:
            return None
        revision = quote(commit or self.branch, safe="" if self.form.in_query else "/")
        at = (self.form.commit if commit else self.form.branch).format(revision)
        return self.repository + template.format(at=at, revision=revision, path=quote(self._placed(path)))


def forge_of(
    repository: object, branch: object, commit: str | None = None, configured: object = "auto", folder: str = ""
) -> Forge:
    """Return the forge that the configuration names; what is no address of a repository counts as none.

    An address to clone from is turned into a web address; user and password are left out.
    """
    address = _web_address(str(repository or "").strip())
    if address is None:
        return Forge(None, str(branch or "main"), commit, folder=folder)
    scheme, _, location = address.partition("://")
    detected = next((name for name, pattern in _BY_ADDRESS if pattern.search(location)), "github")
    name = str(configured) if configured in FORMS else detected
    if name == "bitbucket-server" and (cloned := _CLONED.match(location)):
        location = f"{cloned['context']}/projects/{cloned['project']}/repos/{cloned['name']}"
    return Forge(f"{scheme}://{location}", str(branch or "main"), commit, FORMS[name], folder)


def _web_address(repository: str) -> str | None:
    """Return the address on the web of what may be cloned, without a slash or `.git` at its end."""
    try:
        parts = urlsplit(repository)
    except ValueError:
        return None
    scheme, host, path = "https", parts.hostname or "", parts.path
    if parts.scheme in ("http", "https"):
        scheme, host = parts.scheme, parts.netloc.rpartition("@")[2]
    elif parts.scheme not in ("ssh", "git", "git+ssh"):  # whose port is none of the web
        match = _PLAIN.match(repository)
        if match is None or "://" in repository:
            return None
        host, path = match["host"], match["path"]
    path = path.strip("/").removesuffix(".git")
    if azure := _AZURE_SSH.fullmatch(f"{host}/{path}"):
        host, path = "dev.azure.com", f"{azure['project']}/_git/{azure['name']}"
    return f"{scheme}://{host}/{path}" if host and path else None
