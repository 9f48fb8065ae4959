"""Record of any kind, as its file states it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from orbit_registry.formats.adr.rejected_option import RejectedOption
from orbit_registry.model.ids import Link, natural_key
from orbit_registry.model.kind import Kind, Phase, Status
from orbit_registry.model.review import NO_TERMS, ReviewTerms, has_review, terms_from
from orbit_registry.model.scope import Scope, scope_from
from orbit_registry.model.votes import Vote

SUPERSEDED = "superseded"  # status of a record that another replaced
UNREAD_STATUS = "x-status-syntax"  # field: the syntax that states a status and is not read
CREATED_FROM = "x-created-from"  # field: what `created_at` is from, if no document states that day
BY_COMMIT, BY_IMPORT = "first commit", "import"
BODY = "body.md"  # file in a decision's folder that holds its prose if no document does


@dataclass(frozen=True, slots=True)
class Source:
    """The document that holds a record's prose."""

    path: str
    heading: str | None = None
    format: str | None = None
    authority: str = "record"


@lru_cache(maxsize=1 << 14)
def _source(*values: object) -> Source:
    """Return the source that a record states: all that asks for one gets the same."""
    names = ("path", "heading", "format", "authority")
    pairs = zip(names, values, strict=True)
    return Source(**{name: str(value) for name, value in pairs if value is not None})


@dataclass(frozen=True, slots=True)
class Record:
    """A record as its file states it; `data` is the whole mapping, valid by the kind's schema."""

    kind: Kind
    data: Mapping[str, object]
    path: str  # the record's file, from the repository's root, with `/`
    prose: str = ""  # the long text: a field, `body.md` or the document
    votes: tuple[Vote, ...] = ()
    page: str | None = None  # page of the site that already shows its document, set by a build
    first_commit: str = ""
    """Day of the first commit of its document if that states no date, set by a build."""
    suggested: tuple[RejectedOption, ...] = ()
    """Options that its long text seems to reject, filled in with it."""
    document_terms: ReviewTerms = NO_TERMS
    """When its document says to look at it again, filled in with its long text."""
    unclear_status: tuple[str, str] | None = None
    """Word and sentence for a status that its document states and that is not known; set where
    records are read together.
    """
    is_replaced: bool = False
    """Whether a live record takes its place, so that its own status no longer counts; set where
    records are read together.
    """

    @property
    def id(self) -> str:
        """The id people use."""
        return str(self.data["id"])

    @property
    def origin(self) -> str:
        """Name of the source that it is inherited from: `org` of `org:ADR-0007`, else empty."""
        return self.id.rpartition(":")[0]

    @property
    def uid(self) -> str:
        """The random id that never changes."""
        return str(self.data["uid"])

    @property
    def digest(self) -> str:
        """Digest of its fields and its long text: 16 hexadecimal digits."""
        return _digest(self.data, self.prose)

    @property
    def change_digest(self) -> str:
        """Digest of the change that it proposes, target and diff; empty for no change."""
        diff = self.data.get("diff")
        if not diff:
            return ""

        return _digest(self.data.get("target"), diff)

    @property
    def folder(self) -> str:
        """The record's folder, from the repository's root."""
        return self.path.rpartition("/")[0]

    @property
    def title(self) -> str:
        """The headline of its kind."""
        return str(self.data.get(self.kind.headline) or self.data.get("title") or self.id)

    @property
    def status(self) -> Status:
        """The status that counts, with its kind's properties of it: superseded, if a live record
        takes the record's place, else the stated one.
        """
        if self.is_replaced:
            return self.kind.statuses[SUPERSEDED]
        if self.unclear_status is None:
            return self.stated_status

        word, banner = self.unclear_status
        return replace(self.stated_status, word=word, banner=banner)

    @property
    def stated_status(self) -> Status:
        """The status that its file states, whatever other records say of it."""
        name = str(self.data["status"])
        # Most checks ask every record.
        return self.kind.statuses.get(name) or self.kind.status(name)

    @property
    def phase(self) -> Phase:
        """Whether the record is pending, live or closed."""
        return self.status.phase

    @property
    def is_undecided(self) -> bool:
        """Whether no person decided about it: it waits for a verdict, or states no status."""
        return self.status.waits or self.phase == "pending"

    @property
    def is_rejected(self) -> bool:
        """Whether a review rejected it."""
        return self.phase == "closed" and self.kind.is_rejection(self.status)

    @property
    def author(self) -> str:
        """Name of its author; empty if the file has none."""
        return self._created_by("name")

    @property
    def role(self) -> str:
        """Role of its author, human or agent; empty if the file has none."""
        return self._created_by("role")

    def _created_by(self, name: str) -> str:
        value = self.data.get("created_by")
        if not isinstance(value, dict):
            return ""

        return str(value.get(name, ""))

    @property
    def approval(self) -> Mapping[str, str]:
        """The review: who suggested and who decided, when and why, as far as recorded."""
        value = self.data.get("approval")
        if not isinstance(value, dict):
            return {}

        return {str(key): str(entry) for key, entry in value.items()}

    @property
    def body_path(self) -> str:
        """Path from the root of its prose if no document holds it; the file may be missing."""
        return f"{self.folder}/{BODY}"

    @property
    def scope(self) -> Scope:
        """Where the record applies."""
        value = self.data.get("scope")
        if not isinstance(value, dict):
            return Scope()

        return scope_from(value)

    @property
    def globs(self) -> tuple[str, ...]:
        """The globs of its scope, without building the scope: every record is asked."""
        return self._axis("paths")

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of its scope, like `globs`."""
        return self._axis("tags")

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of its scope, like `globs`."""
        return self._axis("symbols")

    @property
    def uses(self) -> tuple[str, ...]:
        """The packages and modules of its scope, like `globs`."""
        return self._axis("uses")

    def _axis(self, name: str) -> tuple[str, ...]:
        scope = self.data.get("scope")
        if not isinstance(scope, dict):
            return ()

        return _words(scope.get(name))

    @property
    def is_unreachable(self) -> bool:
        """Whether it is live, of a kind that is shown by scope, and has no scope.

        Text that is kept to be searched may do without.

        A kind that links lead to is also shown by its project and its own links. A record with a
        target is shown where that target is planned.
        """
        is_pushed = self.phase == "live" and self.status.pushed and not self.kind.in_file
        if not is_pushed or "target" in self.data or self.globs:
            return False

        gate = self.kind.gate
        if gate == "relevant_and_linked" and (self.links or self.data.get("project")):
            return False
        if gate not in ("scoped", "relevant_and_linked"):
            return False

        return self.scope.is_empty and self.data.get("procedural") is not True

    @property
    def links(self) -> tuple[Link, ...]:
        """The links in the file; supersession is not among them."""
        links = []
        for link in self._maps("links"):
            reason = str(link.get("reason", ""))
            links.append(Link(str(link["rel"]), str(link["to"]), reason))

        return tuple(links)

    def linked(self, rel: str) -> frozenset[str]:
        """Return the names of the records that it states a relation to."""
        return frozenset(link.to for link in self.links if link.rel == rel)

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        """Pairs of kind and reference."""
        entries = self._maps("evidence")
        return tuple([(str(entry["kind"]), str(entry["reference"])) for entry in entries])

    @property
    def rejected(self) -> tuple[RejectedOption, ...]:
        """Options that were considered and rejected, each with its reason and names: those that
        the record lists; where it has no list and is decided, those that its text suggests.
        """
        if "rejected" not in self.data:
            if self.phase == "pending":
                return ()

            return self.suggested

        options: list[RejectedOption] = []
        for entry in self._maps("rejected"):
            listed = entry.get("names")
            names = tuple(map(str, listed)) if isinstance(listed, list) else ()
            reason = str(entry.get("reason") or "")
            options.append(RejectedOption(str(entry["option"]), reason, names))

        return tuple(options)

    @property
    def review_terms(self) -> ReviewTerms:
        """When it is to be looked at again; nothing for kinds whose records are not reviewed so."""
        if not has_review(self.kind.schema.document["properties"]):
            return NO_TERMS

        return terms_from(self.data, self.document_terms)

    @property
    def source(self) -> Source | None:
        """The document that holds the prose, or is it; None if there is none."""
        if self.kind.in_file:
            file = self.text("file")
            if file:
                return Source(f"{self.folder}/{file}")

            path = self.text("path")
            if path is None:
                return None

            return Source(path)

        value = self.data.get("source")
        if not isinstance(value, dict):
            return None

        return _source(*map(value.get, ("path", "heading", "format", "authority")))

    def words(self, name: str) -> tuple[str, ...]:
        """Return a field that is a list of texts; empty if absent."""
        return _words(self.data.get(name))

    def text(self, name: str) -> str | None:
        """Return a field that is a text; None if absent."""
        value = self.data.get(name)
        if value is None:
            return None

        return str(value)

    @property
    def supersedes(self) -> tuple[str, ...]:
        """Ids of the records this one replaces."""
        return self.words("supersedes")

    @property
    def superseded_by(self) -> tuple[str, ...]:
        """Ids of the records that replace this one."""
        return self.words("superseded_by")

    @property
    def legacy_ids(self) -> tuple[str, ...]:
        """Earlier names of the record."""
        return self.words("legacy_ids")

    @property
    def sort_key(self) -> tuple[str, int, str]:
        """Order in lists: by prefix, then number or code."""
        return natural_key(self.id)

    def _maps(self, name: str) -> Sequence[Mapping[str, object]]:
        value = self.data.get(name)
        if not isinstance(value, list):
            return ()

        return [entry for entry in value if isinstance(entry, dict)]


def _words(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()

    return tuple(map(str, value))


def _digest(*parts: object) -> str:
    """Return a digest of values: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]
