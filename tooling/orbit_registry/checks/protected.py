"""What a change does to the things that its base protects: accepted records, and what the gate and
approvals obey. `protected.yaml` is the list; everything here goes from values to values.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Any

from orbit_registry.errors import listed, plural
from orbit_registry.formats.adr.headings import section_key
from orbit_registry.formats.codeowners import OWNER_FILES, owner_groups, owner_sections
from orbit_registry.formats.manifests import is_requirements
from orbit_registry.formats.markdown import parse_markdown
from orbit_registry.formats.yaml import table_of
from orbit_registry.model.freshness import fingerprint_inputs, freshness_fields
from orbit_registry.model.kind import KindTable
from orbit_registry.model.record import SUPERSEDED, UNREAD_STATUS, Record
from orbit_registry.repository.codec import data_in, list_in
from orbit_registry.repository.documents import Document, Documents, prose_in, with_prose
from orbit_registry.repository.policy import (
    ATTRIBUTES,
    LISTS,
    Policy,
    changed_above,
    is_within,
    record_at,
    same_name,
    setting_of,
)
from orbit_registry.repository.starters import alteration, is_starter, runs_first
from orbit_registry.repository.votes import NAME as VOTES
from orbit_registry.workspace.config import Config, config_of
from orbit_registry.workspace.git import Git
from orbit_registry.workspace.workspace import CONFIG, ORBIT, RESERVED_NAMES

Contents = Mapping[str, bytes]
"""What files hold in one commit, by their names from the project's root."""
AMENDMENTS = "amendments"
_SHOWN = 60
# What a reader takes for a heading: one of HTML, or a line in bold.
_LIKE_HEADING = re.compile(
    r"(?im)<h[1-6][^>]*>\s*(?:<[^>]*>)*(?P<html>[^<]+)"
    r"|^[ >*-]*(?:\*\*|__)(?P<bold>[^*_\n]+?):?(?:\*\*|__):?[ \t]*$"
)


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that a change may alter: its files, and its state in a commit."""

    path: str
    """The file whose owners approve."""
    paths: tuple[str, ...]
    state: Callable[[Contents], str]
    """Returns its state as a digest; empty where it is not there or not accepted."""
    unprovable: str = ""
    """Why no commit can prove an approval of it."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that a change does to what its base protects."""

    message: str
    """What it does, in words."""
    subject: Subject
    record: Record | None = None
    pointer: tuple[str | int, ...] = ()
    """Where it is in the record or the configuration."""
    is_light: bool = False
    """Whether what was approved stays unchanged, so that no proof is needed."""
    is_acceptance: bool = False
    """Whether it makes a record accepted."""


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = table_of(__file__, "protected.yaml")
    return table


def is_reviewed(record: Record) -> bool:
    """Say whether a record states that it is accepted, or another status with which it is shown to
    agents, and is of a kind in which what an agent writes is not.
    """
    first = record.kind.status(record.kind.initial["agent"])
    status = record.stated_status
    is_accepted = status.phase == "live" and not status.waits
    is_shown = is_accepted or (status.phase == "pending" and status.pushed)
    return is_shown and (first.waits or first.phase == "pending") and not first.pushed


def is_protected(record: Record) -> bool:
    """Say whether a record is accepted, no other takes its place, and agents are shown it.

    Of a kind in which an agent's word counts until a person reads it, agents change records too.
    """
    counts_at_once = record.kind.status(record.kind.initial["agent"]).phase == "live"
    is_open = record.phase != "closed" and record.status.pushed
    return is_reviewed(record) and is_open and not counts_at_once


def judging(policy: Policy, head: Config) -> Config:
    """Return the configuration that a change is judged by: the base's, to which it may only add."""
    if policy.config is None:
        return head

    raw: dict[str, Any] = dict(head.raw)
    for row in _table()["settings"]:
        rule = _JUDGES.get(row.get("judges", ""))
        if rule is None:
            continue

        key = row["key"]
        value = rule(policy.setting(key), setting_of(head.raw, key))
        section, _, name = key.partition(".")
        raw[section] = {**raw.get(section, {}), name: value} if name else value

    return config_of(raw)


def _both(before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    return [value for value in after if value in before]


def _union(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return what either includes; what only one of them excludes counts."""
    included = [text for text in (*before, *after) if not text.startswith("!")]
    excluded = [text for text in after if text.startswith("!") and text in before]
    return list(dict.fromkeys([*included, *excluded]))


_JUDGES: Mapping[str, Callable[[Any, Any], Any]] = {
    "both": _both,
    "either": lambda before, after: before or after,
    "least": min,
    "union": _union,
}


def changed_settings(policy: Policy, head: Config) -> Iterator[Change]:
    """Yield the settings that the gate or approvals obey and a change alters."""
    if policy.config is None:
        return

    for row in _table()["settings"]:
        key = row["key"]
        before, after = policy.setting(key), setting_of(head.raw, key)
        rule = _JUDGES.get(row.get("judges", ""))
        if before == after or (rule is not None and rule(before, after) == after):
            continue

        what = f"alters `{key}` from {_shown(before)} to {_shown(after)}"
        if "words" in row:
            added = _added(before, after)
            what = f"{row['words'].format(added=added)} (`{key}`)"

        subject = Subject(CONFIG, (CONFIG,), _setting_state(key))
        yield Change(f"this change {what}", subject, None, tuple(key.split(".")))


def _added(before: object, after: object) -> str:
    old = before if isinstance(before, list) else []
    new = after if isinstance(after, list) else []
    return ", ".join(str(value) for value in new if value not in old)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= _SHOWN:
        return text

    return f"{text[:_SHOWN]}…"


def _setting_state(key: str) -> Callable[[Contents], str]:
    def state(contents: Contents) -> str:
        value = load_mapping(contents.get(CONFIG, b""))
        return digest_of(setting_of(value, key))

    return state


def load_mapping(content: bytes) -> Mapping[str, object]:
    """Return the mapping in a YAML file; empty where it has none."""
    return data_in(content.decode("utf-8", "replace")) or {}


def digest_of(*values: object) -> str:
    """Return the digest of values."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def changed_files(
    policy: Policy,
    head: Policy,
    changed: Collection[str],
    records: Sequence[Record],
    kinds: frozenset[str],
) -> Iterator[Change]:
    """Yield the files of policy that a change alters."""
    if policy.config is None:
        return

    for path in sorted(changed):
        for row in _table()["files"]:
            name = row["path"]
            if path == name or (name.endswith("/") and path.startswith(name)):
                yield Change(f"this change {row['words']}: {path}", _file(path))

    keys = {policy.keys_path, head.keys_path}
    for path in sorted(set(changed) - keys):
        folder = path.removeprefix(f"{ORBIT}/").partition("/")[0]
        if path.startswith(f"{ORBIT}/") and folder not in kinds | RESERVED_NAMES:
            message = f"this change adds or changes {path}, which is no record: no check reads it"
            yield Change(message, _file(path))
        elif folder == "state" and path.startswith(f"{ORBIT}/"):
            message = f"this change brings {path}, which belongs to one machine"
            yield Change(message, _file(path))

    yield from _lost_votes(policy, head, changed, records)
    yield from _other_folders(policy, head, changed)
    yield from _starters(policy, head, changed)
    yield from _attributes(policy, head, changed, [record.path for record in records])
    yield from _above(policy, records)

    if policy.keys_path == head.keys_path and policy.keys != head.keys:
        message = f"this change alters the allowed keys: {policy.keys_path}"
        yield Change(message, _file(policy.keys_path))

    if policy.owner_sections == head.owner_sections:
        return

    # A change of who owns the file of owners opens it for the next change.
    files = [f"{'../' * policy.git.prefix.count('/')}{name}" for name in OWNER_FILES]
    texts = chain.from_iterable(map(text_paths, records))
    paths = [CONFIG, *(record.path for record in records), *texts, policy.keys_path, *files]
    altered = (path for path in paths if policy.owners(path) != head.owners(path))
    for path in islice(altered, 1):
        subject = Subject(path, tuple(files), _files_state)
        yield Change(f"this change alters the code owners of {path}", subject)


def _lost_votes(
    policy: Policy, head: Policy, changed: Collection[str], records: Sequence[Record]
) -> Iterator[Change]:
    """Yield the files of votes that lose some: votes are only ever added."""
    folders = {record.path.rpartition("/")[0]: record for record in records}
    for path in sorted(changed):
        folder, _, name = path.rpartition("/")
        record = folders.get(folder)
        if name != VOTES or record is None:
            continue

        before = {*_lines_of(policy.git.read(policy.commit, path))}
        lost = len(before.difference(_lines_of(head.git.read("HEAD", path))))
        if lost:
            message = f"this change removes {plural(lost, 'vote')} of {record.id}"
            yield Change(message, _file(path), is_light=True)


def _lines_of(content: bytes | None) -> list[str]:
    lines = (content or b"").decode("utf-8", "replace").splitlines()
    return [line.strip() for line in lines if line.strip()]


def _other_folders(policy: Policy, head: Policy, changed: Collection[str]) -> Iterator[Change]:
    """Yield the files that are Orbit's on another file system, or in another folder."""
    changed_here = [path for path in sorted(changed) if f"{ORBIT}/" in same_name(path)]
    by_case = Counter(map(same_name, head.git.files_at("HEAD", ORBIT))) if changed_here else {}
    for path in changed_here:
        lower = same_name(path)
        is_ours = path.startswith(f"{ORBIT}/")
        is_twin = is_ours and by_case.get(lower, 0) > 1
        if is_twin or (not is_ours and lower.startswith(f"{ORBIT}/")):
            message = f"this change brings {path}, another name of {lower} on macOS and Windows"
            yield Change(message, _file(path))
        elif path.endswith(f"/{CONFIG}") and policy.git.read(policy.commit, path) is None:
            folder = path.removesuffix(f"/{CONFIG}")
            message = f"this change brings records to {folder}, for agents that work there"
            yield Change(message, _file(path))


def _starters(policy: Policy, head: Policy, changed: Collection[str]) -> Iterator[Change]:
    """Yield the files that start Orbit, and no longer do or otherwise."""
    included = dict(_included(head, changed))
    starters = sorted(filter(is_starter, changed))
    reported: set[str] = set()
    for path in (*starters, *sorted(included.keys() - starters)):
        # What a file says is reported once, and not again for each file that names it.
        files = included.get(path, [])
        if path not in changed and not reported.isdisjoint(files):
            continue

        what = alteration(path, policy.starts(path), head.starts(path))
        if what:
            reported.add(path)
            yield Change(f"this change {what}", Subject(path, (path, *files), _files_state))

    for path in filter(runs_first, sorted(changed)):
        is_new = policy.git.read(policy.commit, path) is None
        if head.git.read("HEAD", path) is not None:
            verb = "brings" if is_new else "alters"
            message = f"this change {verb} {path}, which Python may run before Orbit"
            yield Change(message, _file(path))


def _above(policy: Policy, records: Sequence[Record]) -> Iterator[Change]:
    """Yield the same of files above the project, which start Orbit for it too."""
    git = policy.git
    changed = changed_above(git, policy.commit)
    if not changed:
        return

    top = Git(git.top or git.folder)
    before, after = Policy(top, policy.commit), Policy(top, "HEAD")
    paths = [f"{git.prefix}{record.path}" for record in records]
    up = "../" * git.prefix.count("/")
    changes = (_starters(before, after, changed), _attributes(before, after, changed, paths))
    for change in chain.from_iterable(changes):
        names = tuple(f"{up}{path}" for path in change.subject.paths)
        yield replace(change, subject=Subject(names[0], names, _files_state))


def _included(head: Policy, changed: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield requirements that name changed files, each with these."""
    if not any(path.endswith(LISTS) for path in changed):
        return

    requirements = list(filter(is_requirements, head.git.files_at("HEAD", ".")))
    if head.included(requirements).isdisjoint(changed):
        return

    for path in requirements:
        files = head.included([path]).intersection(changed)
        if files:
            yield path, sorted(files)


_HIDING = re.compile(
    r"-diff|binary|-?merge(?:=(?!text$).*)?|filter=.*|linguist-generated(?:=true)?"
    r"|working-tree-encoding=.*"
)
"""An attribute by which a forge folds a file away, or git merges or stores it otherwise."""


_MACRO = "[attr]"


def _attributes(
    policy: Policy, head: Policy, changed: Collection[str], records: Sequence[str]
) -> Iterator[Change]:
    """Yield the files of attributes that hide a record from a reviewer, or alter its merge."""
    for path in sorted(changed):
        folder, _, name = path.rpartition("/")
        if name != ATTRIBUTES:
            continue

        start = f"{folder}/" if folder else ""
        names = [path.removeprefix(start) for path in records if path.startswith(start)]
        before = list(_attribute_lines(policy.git.read(policy.commit, path)))
        for line in _attribute_lines(head.git.read("HEAD", path)):
            (pattern, *_), is_hiding = line
            if line in before or not is_hiding:
                continue

            sections = owner_sections(f"{pattern} @all\n".encode())
            if any(owner_groups(sections, record) for record in names):
                message = (
                    f"this change hides records from reviewers or merges them otherwise: {path}"
                )
                yield Change(message, _file(path))
                break


def _attribute_lines(content: bytes | None) -> Iterator[tuple[list[str], bool]]:
    """Yield the words of each line, and whether one of them hides a file: by a macro, too."""
    macros: set[str] = set()
    for line in (content or b"").decode("utf-8", "replace").splitlines():
        words = line.split()
        if not words:
            continue

        pattern, attributes = words[0], words[1:]
        is_by_macro = not macros.isdisjoint(attributes)
        is_hiding = is_by_macro or any(map(_HIDING.fullmatch, attributes))
        if not pattern.startswith(_MACRO):
            yield words, is_hiding
        elif is_hiding:
            macros.add(pattern.removeprefix(_MACRO))


def changed_submodules(submodules: Iterable[str], places: Iterable[str]) -> Iterator[Change]:
    """Yield the submodules that a change sets, and that have records or their texts."""
    names = sorted(places)
    for path in submodules:
        is_of_records = is_within(path, ORBIT) or is_within(ORBIT, path)
        inside = [path] if is_of_records else [name for name in names if is_within(name, path)]
        if not inside:
            continue

        where = "a submodule" if inside == [path] else f"the submodule {path}"
        message = f"this change takes {listed(inside, 1)} from {where}"
        subject = Subject(path, (path,), _files_state, "where nothing proves an approval")
        yield Change(message, subject)


def _file(path: str) -> Subject:
    return Subject(path, (path,), _files_state)


def _files_state(contents: Contents) -> str:
    return digest_of({path: content.hex() for path, content in contents.items()})


@dataclass(frozen=True, slots=True)
class Sides:
    """The records of both sides of a change, with their long texts, by their uids."""

    before: Mapping[str, Record]
    after: Mapping[str, Record]
    kinds: KindTable
    broken: frozenset[str] = frozenset()
    """Files of records that can't be read after the change, which is another error."""

    def successors(self, record: Record | None) -> list[Record]:
        """Return the records that this change puts in a record's place."""
        if record is None or record.phase == "live":
            return []

        return [
            other
            for other in self.after.values()
            if other.id in record.superseded_by or record.id in other.supersedes
        ]


def changed_records(sides: Sides) -> Iterator[Change]:
    """Yield what a change does to accepted records, and which records it accepts."""
    for uid, before in sides.before.items():
        after = sides.after.get(uid)
        if not is_protected(before) or (after is None and before.path in sides.broken):
            continue

        # Where another record ends this one, its own file may be unchanged.
        successors = sides.successors(after)
        changed = after
        if successors and after and (after.origin or after.stated_status.phase == "live"):
            changed = successors[0]

        subject = record_subject(sides.kinds, before, changed)
        for what, pointer, is_light in _differences(before, after, successors):
            yield Change(f"this change {what}", subject, after, pointer, is_light)

    for uid, after in sides.after.items():
        earlier = sides.before.get(uid)
        was_reviewed = earlier is not None and is_reviewed(earlier)
        if earlier is not None and earlier.phase == "pending" and after.phase == "live":
            was_reviewed = False

        if is_reviewed(after) and not was_reviewed and not after.origin:
            message = f"{after.id} became {after.stated_status.name}"
            subject = record_subject(sides.kinds, earlier, after)
            # Under a new number, ORB410 takes it for another record.
            is_renumbered = earlier is not None and earlier.id != after.id
            if earlier is not None and is_renumbered:
                message += f"; it was {earlier.id}, {earlier.stated_status.name}"
            # ORB410 tells of what is live alone; a document without a status is adopted so.
            is_adopted = earlier is None and after.role != "agent"
            is_told = (after.phase == "live" or is_adopted) and not is_renumbered
            yield Change(message, subject, after, ("status",), is_acceptance=is_told)


def changed_publication(policy: Policy, sides: Sides) -> Iterator[Change]:
    """Yield the records that a change publishes or withholds by their labels and tags."""
    config = policy.config
    if config is None or not config.publish.is_set:
        return

    for uid, before in sides.before.items():
        after = sides.after.get(uid)
        if after is None:
            continue

        kind, status = before.kind.name, before.status.name
        was = config.publishes(kind, status, (*before.tags, *before.words("labels")))
        now = config.publishes(kind, status, (*after.tags, *after.words("labels")))
        if was != now:
            does = "publishes" if now else "withholds from readers"
            message = f"this change {does} {after.id}, by its labels and tags"
            subject = Subject(after.path, (after.path,), _tags_state(after.path))
            yield Change(message, subject, after)


def _tags_state(path: str) -> Callable[[Contents], str]:
    def state(contents: Contents) -> str:
        data = load_mapping(contents.get(path, b""))
        return digest_of(data.get("labels"), setting_of(data, "scope.tags"))

    return state


Difference = tuple[str, tuple[str | int, ...], bool]
"""What a change does in words, where, and whether the approved text stays."""


def _differences(
    before: Record, after: Record | None, successors: Sequence[Record]
) -> Iterator[Difference]:
    name = before.id
    if after is None:
        yield f"deletes {name}, which is {before.status.name}", (), False
        return

    is_taken_back = before.phase == "live" and after.phase == "pending"
    if after.phase == "closed" or is_taken_back or not after.status.pushed:
        yield _ending(before, after, successors), ("status",), False
        return

    yield from _checks_altered(before, after)

    of = f"{name} ({before.status.name} {before.kind.label.lower()})"
    for field in sorted({*before.data, *after.data}):
        if _is_free(field) or field in ("checks", "freshness"):
            continue
        if before.data.get(field) != after.data.get(field):
            yield f"changes the {field} of {of}", (field,), False

    if _authority(before) != _authority(after):
        yield f"changes whether {name} or its document decides", ("source",), False
    if _expiry(before) != _expiry(after):
        yield f"changes when {name} expires or counts as stale", ("freshness",), False
    elif _verified(after) < _verified(before):
        yield f"sets back when {name} was verified", ("freshness",), True
    elif _verified(after) != _verified(before) and _asks_for_a_look(before):
        yield f"says that {name} was looked at, whose review may be due", ("freshness",), True

    if after.source is not None and before.prose and not after.prose:
        return  # its document is not there, which is another error

    old, new = approved_text(before), approved_text(after)
    if old[0] != new[0] or not new[1].startswith(old[1]):
        yield f"changes the text of {of}", (), False
    elif old[1] != new[1]:
        yield f"amends {name}, whose text stays", (), True


def _ending(before: Record, after: Record, successors: Sequence[Record]) -> str:
    if after.phase == "pending":
        return f"takes {before.id} back from {before.status.name} to {after.status.name}"

    by = ""
    if after.status.name == SUPERSEDED:
        names = dict.fromkeys([*after.superseded_by, *(record.id for record in successors)])
        by = f" by {', '.join(names) or 'nothing'}"
    return f"retires {before.id}: {before.status.name} to {after.status.name}{by}"


def _checks_altered(before: Record, after: Record) -> Iterator[Difference]:
    """Yield what becomes of the checks of a record."""
    old = {str(entry.get("id")): entry for entry in _checks(before)}
    new = {str(entry.get("id")): entry for entry in _checks(after)}
    for name, entry in old.items():
        now = new.get(name)
        if now is None:
            yield f"removes the check {before.id}/{name}", ("checks",), False
        elif now != entry:
            levels = f"{entry.get('level', 'advice')} to {now.get('level', 'advice')}"
            is_level = entry.get("level", "advice") != now.get("level", "advice")
            more = f" (level: {levels})" if is_level else ""
            yield f"alters the check {before.id}/{name}{more}", ("checks",), False

    for name in new.keys() - old.keys():
        yield f"adds the check {after.id}/{name}", ("checks",), False


def _checks(record: Record) -> list[Mapping[str, Any]]:
    entries = list_in(record.data, "checks")
    return [entry for entry in entries if isinstance(entry, Mapping)]


def _is_free(field: str) -> bool:
    return field in _table()["free"] or (field.startswith("x-") and field != UNREAD_STATUS)


def _authority(record: Record) -> str:
    if record.source is not None:
        return record.source.authority

    return ""


def _expiry(record: Record) -> tuple[object, ...]:
    freshness = freshness_fields(record)
    inputs = [str(entry.input) for entry in fingerprint_inputs(record)]
    volatility = freshness.get("volatility")
    # What was never verified ages from the day on which it was made.
    start = record.data.get("created_at") if volatility else None
    return freshness.get("expires_at"), volatility, start, inputs


def _asks_for_a_look(record: Record) -> bool:
    terms = record.review_terms
    return bool(terms.by or terms.when)


def _verified(record: Record) -> str:
    return str(freshness_fields(record).get("verified_at") or "")


def approved_text(record: Record) -> tuple[str, str]:
    """Return a record's long text without its amendments, and these;
    of a file that is elsewhere in the project nothing, since its hash is a field.
    """
    is_elsewhere = record.kind.in_file and not (record.source and _is_ours(record.source.path))
    if is_elsewhere or record.kind.in_record:
        return "", ""

    prose = record.prose.replace("\r\n", "\n").strip()
    if AMENDMENTS not in prose.casefold() and not record.kind.in_document:
        return prose, ""

    headings = parse_markdown(prose).headings
    for number, heading in enumerate(headings):
        if section_key(heading.text) != AMENDMENTS or heading.section.end < len(prose):
            continue

        # A higher heading, or a part of a decision inside, is more than an amendment.
        above = [other.level for other in headings[:number]]
        inside = {section_key(other.text) for other in headings[number + 1 :]}
        amendments = prose[heading.section.start :]
        inside |= {
            section_key(match["html"] or match["bold"])
            for match in _LIKE_HEADING.finditer(amendments)
        }
        if heading.level < min(above, default=1) or inside - {"other", AMENDMENTS}:
            continue

        start = heading.section.start
        return prose[:start].rstrip(), prose[start:]

    return prose, ""


def _is_ours(path: str) -> bool:
    return path.startswith(f"{ORBIT}/")


def record_state(record: Record | None) -> str:
    """Return the digest of what is shown and run of an accepted record; empty for any other."""
    if record is None or not (record.stated_status.phase == "live" or is_reviewed(record)):
        return ""
    if not record.stated_status.pushed:
        return record.stated_status.phase

    fields = {
        name: value
        for name, value in record.data.items()
        if name != "freshness" and not _is_free(name)
    }
    facts = (fields, _expiry(record), _authority(record))
    return digest_of(record.kind.name, *facts, approved_text(record)[0])


def record_subject(kinds: KindTable, *sides: Record | None) -> Subject:
    """Return a record as a subject, by what it is on one or both sides of a change."""
    records = [record for record in sides if record is not None]
    uid = records[-1].uid
    files = dict.fromkeys(record.path for record in records)
    texts = dict.fromkeys(chain.from_iterable(map(text_paths, records)))

    return Subject(records[-1].path, (*files, *texts), state_of(kinds, uid, list(files)))


def state_of(kinds: KindTable, uid: str, paths: Sequence[str]) -> Callable[[Contents], str]:
    """Return what gives the state of the record with a uid, from the contents of files."""

    def state(contents: Contents) -> str:
        for path in paths:
            record = record_at(kinds, path, contents.get(path, b""))
            if record is not None and record.uid == uid:
                return record_state(with_text(record, contents))

        return ""

    return state


def text_paths(record: Record) -> tuple[str, ...]:
    """Return the files that may hold the long text of a record."""
    if record.kind.in_record:
        return ()

    source = record.source.path if record.source else ""
    if record.kind.in_file:
        if _is_ours(source):
            return (source,)

        return ()
    return tuple(path for path in (source, record.body_path) if path)


def with_text(record: Record, contents: Contents) -> Record:
    """Return a record with its long text in one commit."""
    texts = {
        path: contents[path].decode("utf-8", "replace")
        for path in text_paths(record)
        if path in contents
    }
    documents = Documents({path: _document(path, text) for path, text in texts.items()})
    return with_prose(record, prose_in(documents, texts.get), texts.get)


@lru_cache(maxsize=1024)
def _document(path: str, text: str) -> Document:
    """Return a document, parsed once for all decisions of a log."""
    return Document(path, text)
