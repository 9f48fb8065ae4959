"""The ladder: a lesson that was shown and broken again becomes a draft of a rule with a check.

It waits for a person. A check has its examples: the lesson says in quotation marks what is
right and what breaks it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from orbit_registry.errors import RefusedError, plural
from orbit_registry.formats.secrets import without_secrets
from orbit_registry.formats.untrusted import cut, inert_line
from orbit_registry.formats.yaml import table_of
from orbit_registry.model.record import Record
from orbit_registry.model.record_set import RecordSet
from orbit_registry.repository.codec import mapping_in
from orbit_registry.repository.reader import read_collection
from orbit_registry.repository.writer import create_record
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.workspace import Workspace

RULE, LEARNING = "rule", "learning"
LABEL = "broken-again"
FEWEST = 3
"""So often a lesson was broken in sessions that were shown it, before it is drafted."""
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Draft:
    """A rule to be made of a record, how often that was broken, and the check, if there is one."""

    record: Record
    count: int
    check: Mapping[str, object] | None

    def fields(self) -> dict[str, object]:
        """Return the fields of the rule."""
        record = self.record
        title = inert_line(without_secrets(record.title))
        fields: dict[str, object] = {
            "title": cut(title, LONGEST),
            "rationale": f"{record.id} was shown, and it was broken {self.times} after that.",
            "scope": mapping_in(record.data, "scope"),
            "links": [{"rel": "derived_from", "to": record.id}],
            "labels": [LABEL],
            "error_pattern": record.text("error_pattern"),
        }
        if self.check is not None:
            fields["checks"] = [dict(self.check)]

        return {name: value for name, value in fields.items() if value}

    @property
    def times(self) -> str:
        """Return how often it was broken, in words."""
        return plural(self.count, "time")

    def as_data(self) -> dict[str, object]:
        """Return it for JSON."""
        check = None if self.check is None else dict(self.check)
        title = inert_line(without_secrets(self.record.title))
        return {"of": self.record.id, "title": title, "failed": self.count, "check": check}


def drafts(records: RecordSet, failed: Mapping[str, int]) -> Iterator[Draft]:
    """Yield what to draft, by how often the error of each record came after it was shown."""
    for record in records.of_kind(LEARNING):
        count = failed.get(record.id, 0)
        if record.phase == "live" and count >= FEWEST and not _is_drafted(record, records):
            yield Draft(record, count, check_of(record))


def _is_drafted(record: Record, records: Iterable[Record]) -> bool:
    """Say whether a rule was drafted of a record before, whatever became of it."""
    drafted = [each for each in records if each.kind.name == RULE and LABEL in each.words("labels")]
    return any(record.id in rule.linked("derived_from") for rule in drafted)


def check_of(record: Record) -> dict[str, object] | None:
    """Return the check that the words of a record state; None if they state none."""
    for pattern in _patterns():
        match = pattern.search(record.title)
        if match is not None:
            return _check(record, match["good"].strip(), match["bad"].strip())

    return None


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    table = table_of(__file__, "contrasts.yaml")
    return tuple(re.compile(entry["form"]) for entry in table)


def _check(record: Record, good: str, bad: str) -> dict[str, object] | None:
    slug = re.sub(r"[^a-z0-9]+", "-", bad.lower()).strip("-")
    has_bad = re.search(rf"(?<!\w){re.escape(bad)}(?!\w)", good)
    if has_bad or not slug or without_secrets(record.title) != record.title:
        return None

    check: dict[str, object] = {
        "id": f"no-{slug}"[:60].rstrip("-"),
        "say": cut(inert_line(record.title), LONGEST),
        "text": {"words": [bad], "where": "any"},
        "passes": [good],
        "fails": [bad],
    }
    if not record.scope.paths:
        check["in"] = ["**"]

    return check


def write_draft(workspace: Workspace, draft: Draft, author: Author) -> Record:
    """Write a draft as a rule that waits for review."""
    kind = workspace.kinds[RULE]

    def admit(_: Record) -> None:
        if _is_drafted(draft.record, read_collection(workspace).records):
            message = f"another process has just drafted a rule of {draft.record.id}"
            raise RefusedError(message, hint="run the command again")

    fields = {**draft.fields(), "status": kind.initial["agent"]}
    return create_record(workspace, kind, author, fields, admit)
