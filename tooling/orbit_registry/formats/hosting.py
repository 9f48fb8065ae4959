"""Source and edit links at the host of the repository.

A forge is a row of `FORMS`, chosen by the setting `site.forge` or the host's name.
"""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit


@dataclass(frozen=True, slots=True)
class Form:
    """How a forge names its pages: templates of what follows the repository's address.

    `at` of a file or folder is `branch` or `commit`, filled.
    """

    file: str
    folder: str
    edit: str
    line: str = "#L{}"
    branch: str = "{}"
    commit: str = "{}"
    change: str = "/commit/{}"  # the page of a commit
    issue: str = "/issues/{}"  # the page of an issue, which leads on to a change of that number
    pull: str = "/pull/{}"  # the page of a pull or merge request


_GITEA = Form(
    "/src/{at}/{path}",
    "/src/{at}/{path}",
    "/_edit/{revision}/{path}",
    branch="branch/{}",
    commit="commit/{}",
    pull="/pulls/{}",
)
FORMS: Mapping[str, Form] = {
    "github": Form("/blob/{at}/{path}", "/tree/{at}/{path}", "/edit/{at}/{path}"),
    "gitlab": Form(
        "/-/blob/{at}/{path}",
        "/-/tree/{at}/{path}",
        "/-/edit/{at}/{path}",
        change="/-/commit/{}",
        issue="/-/issues/{}",
        pull="/-/merge_requests/{}",
    ),
    "gitea": _GITEA,
    "forgejo": _GITEA,
    "bitbucket": Form(
        "/src/{at}/{path}",
        "/src/{at}/{path}",
        "/src/{at}/{path}?mode=edit",
        "#lines-{}",
        change="/commits/{}",
        pull="/pull-requests/{}",
    ),
}
_BY_HOST = (
    ("bitbucket", re.compile(r"bitbucket\.org\Z")),
    ("gitlab", re.compile(r".*gitlab")),
    ("gitea", re.compile(r".*(?:codeberg|gitea|forgejo)")),
    ("github", re.compile(r".*github")),
)
"""What tells a forge by a repository's host."""
_PLAIN = re.compile(r"(?:[^@/\s]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+)[:/](?P<path>[^\s]+)\Z")
"""What git takes without a scheme, `git@host.org:path`, and what people write so:
`host.org/path`.
"""


@dataclass(frozen=True, slots=True)
class Forge:
    """A hosted repository and the branch its links show; without a repository there are no links.

    `commit` is the one the site is built at: a link to a line, or in a text, leads to the file at
    that commit.
    """

    repository: str | None
    branch: str
    commit: str | None = None
    form: Form | None = None  # none for a forge that is not known, which gets no links to files
    # folder of the workspace in the repository; paths are from the workspace, and leave it with
    # `..`
    folder: str = ""

    def view(self, path: str) -> str | None:
        """Return the address of a file at the branch."""
        if self.form:
            return self._address(self.form.file, path, None)

        return None

    def edit(self, path: str) -> str | None:
        """Return where a file of the repository can be edited."""
        if self.form:
            return self._address(self.form.edit, path, None)

        return None

    def built(self, path: str, *, folder: bool = False, line: int | None = None) -> str | None:
        """Return where a file, its line or a folder can be read as it was when the site was
        built.
        """
        if self.form is None:
            return None

        template = self.form.folder if folder else self.form.file
        end = "" if line is None else self.form.line.format(line)
        address = self._address(template, path, self.commit)
        if address is None:
            return None

        return address + end

    def linked(self, path: str, fragment: str, *, folder: bool = False) -> str | None:
        """Return the address of a file or folder with a fragment, often a line (`#L7`)."""
        address = self.built(path, folder=folder)
        if address is not None and fragment:
            return f"{address}#{fragment}"

        return address

    def change(self, commit: str) -> str | None:
        """Return where a commit can be read."""
        if self.repository is None or self.form is None:
            return None
        return f"{self.repository}{self.form.change.format(quote(commit))}"

    def issue(self, number: str) -> str | None:
        """Return where an issue of a number can be read."""
        if self.repository is None or self.form is None:
            return None
        return f"{self.repository}{self.form.issue.format(number)}"

    def pull(self, number: str) -> str | None:
        """Return where a pull or merge request of a number can be read."""
        if self.repository is None or self.form is None:
            return None
        return f"{self.repository}{self.form.pull.format(number)}"

    def holds(self, path: str) -> bool:
        """Say whether a path, as `posixpath.normpath` writes it, is one of the repository."""
        return not self._placed(path).startswith("..")

    def _placed(self, path: str) -> str:
        placed = posixpath.normpath(posixpath.join(self.folder, path))
        if placed == ".":
            return ""

        return placed

    def _address(self, template: str, path: str, commit: str | None) -> str | None:
        if self.repository is None or self.form is None:
            return None
        revision = quote(commit or self.branch)
        at = (self.form.commit if commit else self.form.branch).format(revision)
        return self.repository + template.format(
            at=at, revision=revision, path=quote(self._placed(path))
        )


def forge_of(
    repository: object,
    branch: object,
    commit: str | None = None,
    configured: object = "auto",
    folder: str = "",
) -> Forge:
    """Return the forge that the configuration names; what is not an address of a repository counts
    as none.

    An address to clone from is turned into a web address; user and password are left out.
    """
    address = _web_address(str(repository or "").strip())
    if address is None:
        return Forge(None, str(branch or "main"), commit, folder=folder)

    host = address.partition("://")[2].partition("/")[0]
    detected = next((name for name, pattern in _BY_HOST if pattern.match(host)), "")
    form = FORMS.get(str(configured)) or FORMS.get(detected)
    return Forge(address, str(branch or "main"), commit, form, folder)


def public_address(remote: str | None) -> str | None:
    """Return the web address of a git remote at a forge that its host's name tells;
    None for any other host.
    """
    address = _web_address(remote or "")
    host = address.partition("://")[2].partition("/")[0] if address else ""
    is_known = host == "github.com" or any(pattern.match(host) for _, pattern in _BY_HOST)
    if is_known:
        return address

    return None


def _web_address(repository: str) -> str | None:
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
    if host and path:
        return f"{scheme}://{host}/{path}"

    return None
