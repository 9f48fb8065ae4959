"""Owns the record: one file's facts as a value, whatever its kind; it never reads the file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orbit_registry.model.ids import Link, natural_key
from orbit_registry.model.kind import Kind, Phase, Status
from orbit_registry.model.scope import Scope, scope_from
from orbit_registry.model.votes import Vote

SUPERSEDED = "superseded"
"""The status of a record that another replaced."""
BODY = "body.md"
"""The file beside a decision's record that holds its prose where no document does."""


@dataclass(frozen=True, slots=True)
class Source:
    """The document that holds a record's prose."""

    path: str
    heading: str | None = None
    format: str | None = None
    authority: str = "record"


@dataclass(frozen=True, slots=True)
class Record:
    """A record as its file states it; `data` is the whole mapping, valid by the kind's schema."""

    kind: Kind
    data: Mapping[str, object]
    path: str
    """The record's file, from the repository's root, with `/`."""
    prose: str = ""
    """The long text, wherever its one home is: a field, `body.md` or the document."""
    votes: tuple[Vote, ...] = ()
    page: str | None = None
    """The page of a site that shows its document already; a build of the site says so."""

    @property
    def id(self) -> str:
        """The id people use."""
        return str(self.data["id"])

    @property
    def uid(self) -> str:
        """The random id that never changes."""
        return str(self.data["uid"])

    @property
    def digest(self) -> str:
        """What tells what it says, its fields and its long text, from anything else: 16 hexadecimal digits."""
        return hashlib.sha256(json.dumps([self.data, self.prose], default=str).encode()).hexdigest()[:16]

    @property
    def change_digest(self) -> str:
        """What tells what it would change elsewhere, its target and diff, from anything else; empty for no change."""
        diff = self.data.get("diff")
        return hashlib.sha256(json.dumps([self.data.get("target"), diff]).encode()).hexdigest()[:16] if diff else ""

    @property
    def folder(self) -> str:
        """The record's folder, from the repository's root."""
        return self.path.rpartition("/")[0]

    @property
    def title(self) -> str:
        """The one line that stands for the record: its kind's headline."""
        return str(self.data.get(self.kind.headline) or self.data.get("title") or self.id)

    @property
    def status(self) -> Status:
        """The status, with what its kind says of it."""
        name = str(self.data["status"])
        return self.kind.statuses.get(name) or self.kind.status(name)  # asked of every record by most checks

    @property
    def phase(self) -> Phase:
        """Whether the record waits, holds or is closed."""
        return self.status.phase

    @property
    def is_rejected(self) -> bool:
        """Whether a review turned it down."""
        return self.phase == "closed" and self.kind.is_rejection(self.status)

    @property
    def author(self) -> str:
        """Who made it; empty where the file does not say."""
        value = self.data.get("created_by")
        return str(value.get("name", "")) if isinstance(value, dict) else ""

    @property
    def role(self) -> str:
        """Whether a person or an agent made it; empty where the file does not say."""
        value = self.data.get("created_by")
        return str(value.get("role", "")) if isinstance(value, dict) else ""

    @property
    def approval(self) -> Mapping[str, str]:
        """Who suggested it and took it up or turned it down, when and why, as far as a review wrote it."""
        value = self.data.get("approval")
        return {str(key): str(entry) for key, entry in value.items()} if isinstance(value, dict) else {}

    @property
    def body_path(self) -> str:
        """Where its prose stands if no document holds it, from the root; the file need not be there."""
        return f"{self.folder}/{BODY}"

    @property
    def scope(self) -> Scope:
        """Where the record applies."""
        value = self.data.get("scope")
        return scope_from(value) if isinstance(value, dict) else Scope()

    @property
    def globs(self) -> tuple[str, ...]:
        """The globs of its scope; quicker than making the scope, which counts where every record is asked."""
        value = self.data.get("scope")
        paths = value.get("paths") if isinstance(value, dict) else None
        return tuple(map(str, paths)) if isinstance(paths, list) else ()

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of its scope; quicker, as `globs` is."""
        value = self.data.get("scope")
        tags = value.get("tags") if isinstance(value, dict) else None
        return tuple(map(str, tags)) if isinstance(tags, list) else ()

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols of its scope; quicker, as `globs` is."""
        value = self.data.get("scope")
        symbols = value.get("symbols") if isinstance(value, dict) else None
        return tuple(map(str, symbols)) if isinstance(symbols, list) else ()

    @property
    def is_unreachable(self) -> bool:
        """Whether it is in force, of a kind that is shown where its scope says, and has no scope.

        A kind that links lead to as well is shown by its project and its own links too. What names a target is about
        that, and told where it is planned.
        """
        is_pushed = self.phase == "live" and self.status.pushed and self.kind.in_record and "target" not in self.data
        if not is_pushed or self.globs or self.kind.gate not in ("scoped", "relevant_and_linked"):
            return False
        led = self.kind.gate != "scoped" and (self.links or self.data.get("project"))
        return self.scope.is_empty and not led and self.data.get("procedural") is not True

    @property
    def links(self) -> tuple[Link, ...]:
        """The links the file states; supersession is not among them."""
        return tuple(Link(str(link["rel"]), str(link["to"])) for link in self._maps("links"))

    @property
    def evidence(self) -> tuple[tuple[str, str], ...]:
        """Pairs of kind and reference."""
        return tuple([(str(entry["kind"]), str(entry["reference"])) for entry in self._maps("evidence")])

    @property
    def source(self) -> Source | None:
        """The document that holds the prose, or is it, where there is one."""
        if self.kind.in_file:
            file, path = self.text("file"), self.text("path")
            full_path = f"{self.folder}/{file}" if file else path
            return None if full_path is None else Source(full_path)
        value = self.data.get("source")
        if not isinstance(value, dict):
            return None
        heading, form = value.get("heading"), value.get("format")
        return Source(
            path=str(value["path"]),
            heading=None if heading is None else str(heading),
            format=None if form is None else str(form),
            authority=str(value.get("authority", "record")),
        )

    def words(self, name: str) -> tuple[str, ...]:
        """Return a field that is a list of texts; empty where it is absent."""
        value = self.data.get(name)
        return tuple(map(str, value)) if isinstance(value, list) else ()

    def text(self, name: str) -> str | None:
        """Return a field that is a text; None where it is absent."""
        value = self.data.get(name)
        return None if value is None else str(value)

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
        """The order of lists: by kind's prefix, then number or code."""
        return natural_key(self.id)

    def _maps(self, name: str) -> Sequence[Mapping[str, object]]:
        value = self.data.get(name)
        return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else ()
