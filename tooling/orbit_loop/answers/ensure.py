"""`ensure`: a program's records by its keys."""

from collections.abc import Mapping

from orbit_loop.retro.ensure import (
    REFUSED,
    EnsureRequest,
    EnsureResult,
    counts,
    ensure_all,
    read_entries,
)
from orbit_registry.doors.answers.answer import Answer
from orbit_registry.doors.answers.call import Call
from orbit_registry.doors.answers.inputs import text_from
from orbit_registry.doors.answers.record_fields import fields_from, refuse_managed
from orbit_registry.doors.answers.table import operation
from orbit_registry.errors import UsageError
from orbit_registry.operations.freshness.evaluate import refuse_missing_evidence

WOULD = "nothing was written; ids are chosen when it is"
MOST_LINES = 50


@operation("ensure", job="Learn from work", writes=True)
def ensure(
    call: Call,
    kind: str = "",
    kind_option: str = "",
    key: str = "",
    title: str | None = None,
    body_file: str | None = None,
    status: str = "",
    pending: bool = False,
    dry_run: bool = False,
    batch: str | None = None,
    path: tuple[str, ...] = (),
    tag: tuple[str, ...] = (),
    symbol: tuple[str, ...] = (),
    uses: tuple[str, ...] = (),
    label: tuple[str, ...] = (),
    evidence: tuple[str, ...] = (),
    legacy_id: tuple[str, ...] = (),
    distinct_from: tuple[str, ...] = (),
    semantic_seed: str | None = None,
    settings: tuple[str, ...] = (),
) -> Answer:
    """Insert or update a program's record by its key.

    It is for programs that report things again and again: discoveries, minutes, results. A rejected
    record is not written again, an agent changes no live record, and one refused line of a batch
    does not stop the others.

    orbit ensure learning --key meeting/7/1 --title "Name each lock" --path "src/**"
    orbit ensure --batch - --pending < found.jsonl

    Args:
        kind [KIND]: Its kind.
        kind_option --kind KIND: The same as KIND.
        key: Your name for it; the same key is the same record.
        title: Its headline: the summary of a learning, the title of others.
        body_file FILE: Read its long text from a file; - is stdin.
        status: Its status, if the kind and you may set it.
        pending: Let new records wait for review, as an agent's do.
        dry_run: Print what would happen; write nothing.
        batch FILE: One JSON object a line, each with `key` and fields; - is stdin.
        path GLOB: Files it applies to; repeatable.
        tag TAG: Topic it applies to (scope.tags).
        symbol PATH::NAME: Function or class it applies to: src/app.py::main.
        uses --uses PACKAGE: Package or module; it applies to files that import it: redis.
        label WORD: Word to group by (labels).
        evidence KIND:REF: issue:12, pr:3, commit:abc, file:src/x.py, …
        legacy_id NAME: An earlier name that still resolves.
        distinct_from ID: A record that looks alike but differs.
        semantic_seed TEXT: More words by which search finds it.
        settings --set FIELD=YAML: Any other field, as YAML.
    """
    if kind and kind_option and kind != kind_option:
        message = f"{kind!r} and --kind {kind_option!r} are two kinds"
        raise UsageError(message, hint="leave one of them out")

    kind = kind or kind_option
    entries: list[EnsureRequest] = []
    faults: list[UsageError] = []
    if batch is not None:
        if key or title or body_file:
            hint = "leave --key, --title and --body-file out"
            raise UsageError("--batch says everything in its lines", hint=hint)

        for entry in read_entries(text_from(batch).splitlines(), kind):
            if isinstance(entry, EnsureRequest):
                entries.append(entry)
            else:
                faults.append(entry)
    else:
        if not kind or not key:
            hint = "orbit ensure learning --key meeting/7/1 --title …"
            raise UsageError("of which kind, and by which key", hint=hint)

        values: Mapping[str, object] = {
            "path": path,
            "tag": tag,
            "symbol": symbol,
            "uses": uses,
            "label": label,
            "evidence": evidence,
            "legacy_id": legacy_id,
            "distinct_from": distinct_from,
            "semantic_seed": semantic_seed,
            "settings": settings,
        }
        fields = _fields(call, kind, values, title, body_file)
        entries = [EnsureRequest(kind, key, fields, status)]

    author = call.author()
    results = ensure_all(call.workspace, entries, author, pending=pending, dry_run=dry_run)
    return _answer(results, faults, dry_run=dry_run)


def _fields(
    call: Call, kind: str, values: Mapping[str, object], title: str | None, body_file: str | None
) -> dict[str, object]:
    record_kind = call.workspace.kinds[kind]
    fields = fields_from(record_kind, values)
    refuse_managed(record_kind, fields)
    refuse_missing_evidence(call.workspace, fields.get("evidence"))
    if title is not None:
        fields[record_kind.headline] = title
    if body_file is not None:
        prose = "body" if record_kind.in_document else record_kind.prose
        fields[prose] = text_from(body_file)

    return fields


def _answer(results: list[EnsureResult], faults: list[UsageError], *, dry_run: bool) -> Answer:
    refused = [entry for entry in results if entry.outcome == REFUSED]
    totals = counts(results)
    totals[REFUSED] += len(faults)

    lines = list(map(entry_line, results if len(results) <= MOST_LINES else refused))
    lines += [f"{fault.message}; {fault.hint}" for fault in faults]
    if len(results) != 1 or faults:
        counted = [f"{count} {name}" for name, count in totals.items() if count]
        lines.append(", ".join(counted) or "no line holds an entry")
    if dry_run:
        lines.append(WOULD)

    following: list[str] = []
    for entry in results[:3]:
        if entry.record is not None and not dry_run:
            following.append(f"orbit show {entry.record.id}")

    data = {
        "counts": totals,
        "entries": [entry.as_data() for entry in results],
        "faults": [fault.message for fault in faults],
        "dry_run": dry_run,
    }
    return Answer(data, "\n".join(lines), following, ok=not (refused or faults))


def entry_line(result: EnsureResult) -> str:
    """Return the outcome of one entry as a line."""
    entry, record = result.entry, result.record
    is_refused_line = bool(entry.line) and result.outcome == REFUSED
    words = [f"line {entry.line}:"] if is_refused_line else []
    title = str(entry.fields.get("title", ""))
    if record is not None:
        words.append(record.id)
        title = record.title
    elif entry.key.strip() or not is_refused_line:
        words.append(entry.key or entry.kind)

    return f"{' '.join([*words, result.outcome])}  {result.reason or title}"
