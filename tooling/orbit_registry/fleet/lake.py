"""Lake: buckets of repositories, the manifests of pushes and compactions, and what of them counts.

    lake.json                                    version, number of buckets
    manifests/bucket=07/shop.1f3a….000005.json   a push, written last: one without it does not exist
    manifests/bucket=07/compaction.000002.json   the state of all repositories of the bucket
    records/bucket=07/….parquet                  rows; scopes, links, votes and rejected are alike

Of the compactions of a bucket the newest counts, and of a repository's pushes those after that
compaction.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

from orbit_registry.errors import LakeError, RefusedError, UsageError
from orbit_registry.fleet.store import Store

SCHEMA_VERSION = 2  # version of `tables.sql`, which each manifest names
TABLES_SQL = Path(__file__).with_name("tables.sql")
TABLES = tuple(re.findall(r"^CREATE TABLE lake_(\w+)", TABLES_SQL.read_text("utf-8"), re.MULTILINE))
BUCKETS = 64
MOST = 10**9  # the largest number that a manifest may state
MARK = "lake.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}\Z")
_COMPACTION = re.compile(r"compaction\.([0-9]{6})\.json\Z")
_PUSH = re.compile(r"[a-z0-9-]*\.([0-9a-f]{16})\.([0-9]{6,9})\.json\Z")
_DATA = re.compile(rf"(?:{'|'.join(TABLES)})/bucket=[0-9]{{2,5}}/[A-Za-z0-9.-]{{1,200}}\.parquet\Z")


@dataclass(frozen=True, slots=True)
class Push:
    """The manifest of a push: what a repository was at a commit,
    and the files that the push wrote.
    """

    repository: str
    sequence: int  # number of the push among those of its repository
    since: int  # number of the first push that counts: that one wrote every record
    commit: str
    committed_at: str
    pushed_at: str
    records: int  # records of the repository after the push
    digest: str  # hash of all rows of the repository
    extends: str = ""  # what the repository inherits: `acme/decisions 0f3a…`
    origin: str = ""  # host and path of the remote, if it has a host
    removed: bool = False
    schema_version: int = SCHEMA_VERSION
    rows: Mapping[str, int] = field(default_factory=dict)
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bucket:
    """What counts in a bucket: the newest push of each repository,
    and the files that hold their rows.
    """

    number: int
    heads: Mapping[str, Push]
    files: tuple[str, ...]
    compaction: int  # number of the compaction that counts; 0 without one
    manifests: tuple[str, ...]  # the manifests that count
    pushes: int  # pushes after the compaction
    unreadable: tuple[
        str, ...
    ]  # damaged manifests since the last push of all rows; what they state does not count

    def files_of(self, repository: str) -> list[str]:
        """Return the files that may hold rows of a repository."""
        prefix = f"{file_stem(repository)}."
        return [
            name
            for name in self.files
            if name.rsplit("/", 1)[1].startswith((prefix, "compaction.", "ducklake-"))
        ]


class Lake:
    """One lake; every method reads its manifests anew."""

    writes_anew = True  # a push with --force repairs a missing file

    def __init__(self, address: str, *, create: bool = False, may_be_new: bool = False) -> None:
        self.store = Store(address)
        self.address = self.store.address  # as messages show it
        self._create = create
        self._may_be_new = create or may_be_new
        self.unreadable: set[str] = set()  # damaged manifests of the buckets that were read

    @cached_property
    def buckets(self) -> int:
        """The number of buckets, fixed when the lake is made.

        Raises:
            LakeError: there is no lake, or a newer version wrote it.
        """
        mark = self.store.read([MARK]).get(MARK)
        if mark is None and self._may_be_new:
            if (name := self.store.foreign_file()) not in (None, MARK):
                message = f"{self.address} is no lake: it has {name} and no {MARK}"
                raise RefusedError(
                    message, hint="give an empty folder, or one that does not exist yet"
                )

            if not self._create:
                return BUCKETS

            text = json.dumps({"format": "orbit-lake", "version": 1, "buckets": BUCKETS})
            self.store.create(MARK, text.encode())
            mark = self.store.read([MARK]).get(MARK)

        if mark is None:
            hint = "give the address of a lake; `orbit fleet push` makes one"
            raise LakeError(f"{self.address} is no lake: it has no {MARK}", hint=hint)

        try:
            data = json.loads(mark)
            version, buckets = int(data["version"]), int(data["buckets"])
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            version, buckets = 0, 0

        if version != 1 or not 1 <= buckets <= 10_000:
            message = (
                f"{self.store.path(MARK)} states no version and number of buckets that "
                f"this Orbit reads"
            )
            raise LakeError(
                message, hint="a newer Orbit may have written it: upgrade, or repair the file"
            )

        return buckets

    def stored(self, line: str) -> str:
        """Return a row, as JSON, in the form in which the lake can have it."""
        return line

    def bucket_of(self, repository: str) -> int:
        """Return the bucket of a repository: a hash, so that it never changes."""
        return (
            int.from_bytes(hashlib.sha256(repository.encode()).digest()[:8], "big") % self.buckets
        )

    def all_buckets(self) -> list[Bucket]:
        """Return what counts in each bucket."""
        names: dict[str, list[str]] = {folder_name(number): [] for number in range(self.buckets)}
        for name in self.store.times("manifests"):
            names.get(name.split("/")[1], []).append(name)
        return [
            self._noted(self._bucket(number, names[folder_name(number)]))
            for number in range(self.buckets)
        ]

    def bucket(self, number: int, repository: str | None = None) -> Bucket:
        """Return what counts in a bucket, or of one repository in it."""
        names = list(self.store.times(f"manifests/{folder_name(number)}"))
        return self._noted(self._bucket(number, names, repository))

    def _noted(self, bucket: Bucket) -> Bucket:
        self.unreadable.update(bucket.unreadable)
        return bucket

    def bucket_before(self, number: int, times: Mapping[str, datetime], before: datetime) -> Bucket:
        """Return what counted in a bucket at a time."""
        folder = f"manifests/{folder_name(number)}/"
        return self._bucket(
            number, [name for name in times if name.startswith(folder) and times[name] <= before]
        )

    def _bucket(self, number: int, names: Sequence[str], repository: str | None = None) -> Bucket:
        numbers = {int(match[1]): name for name in names if (match := _COMPACTION.search(name))}
        damaged: list[str] = []
        heads: dict[str, Push] = {}
        files: list[str] = []
        manifests: list[str] = []

        pushed: list[Push] = []
        compaction = max(numbers, default=0)
        if compaction:
            name = numbers[compaction]
            data = _parsed(self.store.read([name]).get(name, b""))
            pushes = [_push_of(entry) for entry in _list(data, "repositories")]
            if data is None or None in pushes:
                message = f"{self.store.path(name)} is damaged"
                raise LakeError(
                    message,
                    hint="remove it, and run `orbit fleet push` in the repositories of the bucket",
                )

            heads = {push.repository: push for push in pushes if push is not None}
            files, manifests = _data_files(_list(data, "files")), [name]

        compacted = dict(heads)
        bases = {repository_key(name): push.sequence for name, push in heads.items()}
        later = [name for name in names if self._is_later(name, bases, repository)]
        contents = self.store.read(later)

        for name in later:
            push = _push_of(_parsed(contents.get(name, b"")))
            if (
                push is None
                or (match := _PUSH.search(name)) is None
                or match[1] != repository_key(push.repository)
            ):
                damaged.append(name)
                continue

            if push.repository not in heads or push.sequence > heads[push.repository].sequence:
                heads[push.repository] = push

            pushed.append(push)
            manifests.append(name)

        unreadable = _without_damage(heads, damaged)

        if not any(_counts(push, heads) for push in compacted.values()):
            files = []

        files += [name for push in pushed if _counts(push, heads) for name in push.files]
        if repository is not None:
            heads = {name: push for name, push in heads.items() if name == repository}

        counted = len(manifests) - (1 if compaction else 0)
        return Bucket(
            number, heads, tuple(files), compaction, tuple(manifests), counted, tuple(unreadable)
        )

    def _is_later(self, name: str, bases: Mapping[str, int], repository: str | None) -> bool:
        match = _PUSH.search(name)
        if match is None or (repository is not None and match[1] != repository_key(repository)):
            return False
        return int(match[2]) > bases.get(match[1], 0)

    def next_sequence(self, repository: str, bucket: Bucket) -> int:
        """Return the number of a repository's next push:
        one that no manifest has, a damaged one included.
        """
        folder = f"manifests/{folder_name(bucket.number)}"
        matches = filter(None, map(_PUSH.search, self.store.times(folder)))
        numbers = [int(match[2]) for match in matches if match[1] == repository_key(repository)]
        head = bucket.heads.get(repository)
        return max([*numbers, head.sequence if head else 0]) + 1

    def commit(self, push: Push) -> bool:
        """Write the manifest of a push; False if another process has written that number
        meanwhile.
        """
        folder = folder_name(self.bucket_of(push.repository))
        name = f"manifests/{folder}/{file_stem(push.repository)}.{push.sequence:06d}.json"
        return self.store.create(name, (json.dumps(asdict(push), indent=1) + "\n").encode())

    def commit_compaction(
        self, bucket: Bucket, files: Sequence[str], heads: Iterable[Push]
    ) -> bool:
        """Write the manifest of a bucket's next compaction; False if there is one meanwhile."""
        name = f"manifests/{folder_name(bucket.number)}/compaction.{bucket.compaction + 1:06d}.json"
        entries = [{**asdict(push), "files": [], "rows": {}} for push in heads]
        text = json.dumps(
            {"schema_version": SCHEMA_VERSION, "files": list(files), "repositories": entries},
            indent=1,
        )
        return self.store.create(name, f"{text}\n".encode())


def _counts(push: Push, heads: Mapping[str, Push]) -> bool:
    """Return whether rows of a push may count:
    its repository was not removed or pushed whole since then.
    """
    head = heads.get(push.repository)
    return head is not None and not head.removed and push.sequence >= head.since


def _without_damage(heads: dict[str, Push], damaged: Iterable[str]) -> list[str]:
    """Take away each head that a damaged manifest follows, as it may be a removal;
    return the manifests that matter.
    """
    names = {repository_key(name): name for name in heads}
    result = []
    for manifest in damaged:
        _, key, number = manifest.removesuffix(".json").rsplit(".", 2)
        head = heads.get(names.get(key, ""))
        if head is None or int(number) >= head.since:
            result.append(manifest)
        if head is not None and int(number) > head.sequence:
            del heads[head.repository]

    return result


def folder_name(bucket: int) -> str:
    """Return the name of a bucket's folder."""
    return f"bucket={bucket:02d}"


def repository_key(repository: str) -> str:
    """Return the part of a file's name that tells one repository from another."""
    return hashlib.sha256(repository.encode()).hexdigest()[:16]


def file_stem(repository: str) -> str:
    """Return how the names of a repository's files begin:
    readable, and different for each repository.
    """
    readable = re.sub(r"[^a-z0-9]+", "-", repository.lower()).strip("-")[:60]
    return f"{readable}.{repository_key(repository)}"


def valid_repository(name: str) -> str:
    """Return the name of a repository.

    Raises:
        UsageError: it has characters that a name may not have.
    """
    if not _NAME.match(name):
        hint = "letters, digits and . _ / + - are allowed, at most 200: --repository example/shop"
        raise UsageError(f"{name!r} is no name of a repository", hint=hint)

    return name


def _parsed(content: bytes) -> Mapping[str, object] | None:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _list(data: Mapping[str, object] | None, name: str) -> list[object]:
    value = (data or {}).get(name)
    return value if isinstance(value, list) else []


def _data_files(names: Iterable[object]) -> list[str]:
    """Return names of data files; a path that leads elsewhere is none."""
    return [name for name in names if isinstance(name, str) and _DATA.match(name)]


def _push_of(data: object) -> Push | None:
    """Return the push that a manifest states; None for another form.

    Fields of later versions are ignored.
    """
    if not isinstance(data, dict):
        return None

    texts = ("repository", "commit", "committed_at", "pushed_at", "digest")
    numbers = ("sequence", "since", "records", "schema_version")
    fields = {name: data[name] for name in Push.__slots__ if name in data}
    typed = all(isinstance(fields.get(name), str) for name in texts) and all(
        isinstance(number := fields.get(name), int) and 0 <= number < MOST for name in numbers
    )

    if not typed or not _NAME.match(fields["repository"]):
        return None

    rows = fields.get("rows")
    fields["rows"] = rows if isinstance(rows, dict) else {}
    fields["removed"] = fields.get("removed") is True
    fields |= {name: str(fields.get(name, "")) for name in ("extends", "origin")}
    return Push(**{**fields, "files": tuple(_data_files(_list(data, "files")))})
