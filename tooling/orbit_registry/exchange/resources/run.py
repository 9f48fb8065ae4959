"""Run of a reviewed script; a script that differs from the reviewed one needs `--trust`.

No shell sees the arguments, and the script gets only a few environment variables.
"""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from orbit_registry.errors import OrbitError, ProgramError, RefusedError, UsageError
from orbit_registry.exchange.resources.intake import LARGEST, SCRIPT, raw_digest
from orbit_registry.formats.position import YamlProblemError
from orbit_registry.formats.yaml import load
from orbit_registry.hook.events import note
from orbit_registry.model.record import Record
from orbit_registry.workspace.author import Author
from orbit_registry.workspace.files import DOCUMENT_LIMIT, inside, read_bytes, write_error
from orbit_registry.workspace.workspace import ORBIT, Workspace

INHERITED = frozenset(
    ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR", "NO_COLOR")
)
"""Environment variables that a script gets, besides `LC_*` and the two below."""
ID_VARIABLE = "ORBIT_RESOURCE"
PATH_VARIABLE = "ORBIT_RESOURCE_PATH"
"""Variable with the path of the script's own file:
what is started is a copy of the checked bytes.
"""
SECONDS = 600.0
TIMED_OUT = 124  # the exit code where the time was over, as of `timeout`
# bytes of what a script printed that are kept, the last ones, where it is not shown as it comes
OUTPUT_LIMIT = 100_000
_INTERPRETERS: Mapping[str, tuple[str, ...]] = {
    ".py": (sys.executable,),
    ".sh": ("sh",),
    ".bash": ("bash",),
}
_DECIDING = ("id", "type", "status", "path", "content_hash")
"""The fields of a record that decide what is run."""
_GRACE = 2.0  # seconds that a script has to end when its time is over


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a script is to be run."""

    arguments: Sequence[str] = ()
    seconds: float = SECONDS
    trust: bool = False  # whether the user vouches for a script that differs from the reviewed one
    passed: Sequence[str] = ()  # further variables of the environment that it gets
    surface: str = "cli"  # the door that it is asked through, as the event says it
    # whether what it prints is kept, instead of being shown as it comes; it gets no input then
    captured: bool = False


@dataclass(frozen=True, slots=True)
class RunResult:
    """What came of it; a signal that ended the script is 128 and its number, as shells say it."""

    exit_code: int
    seconds: float
    is_over_time: bool = False
    stdout: str = ""
    stderr: str = ""

    def as_data(self, any_id: str) -> dict[str, object]:
        """Return the end of a script as JSON data."""
        return {
            "id": any_id,
            "exit_code": self.exit_code,
            "seconds": round(self.seconds, 3),
            "timed_out": self.is_over_time,
            "stdout": self.stdout,
            "stderr": self.stderr,
        }


def run(workspace: Workspace, record: Record, author: Author, order: RunOptions) -> RunResult:
    """Run a script in the project's root, and write down that it was run, by whom,
    and how it ended.
    """
    path = record.text("path")
    if not record.kind.in_file or record.text("type") != SCRIPT or path is None:
        raise UsageError(f"{record.id} is not a script", hint="`orbit show` prints a document")

    if order.trust and author.role == "agent":
        _note(workspace, record, author, order, time.time(), refused=1)
        raise RefusedError(
            "an agent can't trust a script for you",
            hint="a person reviews it, and runs it",
        )

    file = inside(workspace.root, path)
    content = read_bytes(file, limit=LARGEST)
    doubts = list(_doubts(workspace, record, path, content))
    if doubts and not order.trust:
        hint = (
            f"read {path}, then `orbit run --trust {record.id}`, or commit it, `orbit "
            f"refresh {record.id}`, commit that"
        )
        digest = raw_digest(content)
        _note(workspace, record, author, order, time.time(), refused=1, content_hash=digest)
        raise RefusedError(f"{record.id} is not run: {'; '.join(doubts)}", hint=hint)

    began = time.time()

    with _copy(file, content) as started:
        words = [*_command(file, content, started), *order.arguments]
        ran = _start(workspace.root, words, _environment(record, file, order), order)

    _note(
        workspace,
        record,
        author,
        order,
        began,
        exit_code=ran.exit_code,
        content_hash=raw_digest(content),
        trusted=int(bool(doubts)),
        duration_ms=round(ran.seconds * 1000),
    )

    return ran


def _note(
    workspace: Workspace,
    record: Record,
    author: Author,
    order: RunOptions,
    at: float,
    **fields: str | int,
) -> None:
    note(
        str(workspace.root),
        "run",
        order.surface,
        at,
        id=record.id,
        by=author.name,
        role=author.role,
        **fields,
    )


def _doubts(workspace: Workspace, record: Record, path: str, content: bytes) -> Iterator[str]:
    """Yield reasons not to run a script: it must be what its record says,
    and both what was committed.
    """
    if record.phase != "live":
        yield f"it is {record.status.name}"
    if record.text("content_hash") != raw_digest(content):
        yield f"{path} has changed since it was shown"

    try:
        yield from _uncommitted(workspace, record, path, content)
    except OrbitError as error:
        yield f"git can't say what was committed ({error.message})"


def _uncommitted(workspace: Workspace, record: Record, path: str, content: bytes) -> Iterator[str]:
    default = workspace.default_commit()
    only_default = (
        workspace.trusts_only_default_branch or workspace.default_branch_trusts_only_itself(default)
    )
    revision, where = "HEAD", "commit"
    if only_default:
        revision, where = default, "commit of the default branch"

    # Without a revision git would read the index, which anybody may have written.
    is_known = workspace.git.top is not None and bool(revision)
    committed = workspace.git.read(revision, path) if is_known else None

    if committed is None:
        yield f"{path} is in no {where}"
    elif committed != content and only_default:
        yield f"{path} is not as in the last {where}"
    elif committed != content:
        yield f"{path} has changes that are not committed"

    if not is_known or not _is_record_committed(workspace, record, revision):
        yield f"the record has changes that are not committed ({record.path})"


def _is_record_committed(workspace: Workspace, record: Record, revision: str) -> bool:
    files = [record.path]
    if record.kind.folder.is_relative_to(workspace.root / ORBIT):
        files.append(f"{workspace.relative(record.kind.folder)}/kind.yaml")

    committed = {name: workspace.git.read(revision, name) for name in files}
    now = {name: read_bytes(inside(workspace.root, name), limit=DOCUMENT_LIMIT) for name in files}
    if committed != now:
        return False

    try:
        data = load((committed[record.path] or b"").decode("utf-8"))
    except (YamlProblemError, UnicodeDecodeError):
        return False

    if not isinstance(data, dict):
        return False

    # The record may come from the cache, which git does not hold.
    return all(data.get(name) == record.data.get(name) for name in _DECIDING)


@contextlib.contextmanager
def _copy(file: Path, content: bytes) -> Iterator[Path]:
    """Yield a private copy of the checked bytes, which no other user can replace,
    in a new folder.
    """
    with contextlib.ExitStack() as stack:
        try:
            folder = tempfile.TemporaryDirectory(prefix="orbit-run-", ignore_cleanup_errors=True)
            started = Path(stack.enter_context(folder)) / file.name
            started.write_bytes(content)
            started.chmod(0o700)
        except OSError as error:
            raise write_error(Path(tempfile.gettempdir()), error) from None

        yield started


def _command(file: Path, content: bytes, started: Path) -> list[str]:
    if os.access(file, os.X_OK) and content.startswith((b"#!", b"\x7fELF")):
        return [str(started)]

    first = content.partition(b"\n")[0].decode("utf-8", "replace")
    try:
        words = shlex.split(first[2:]) if first.startswith("#!") else []
    except ValueError as error:
        message = f"the first line of {file.name} can't be read: {str(error).lower()}"
        raise RefusedError(message, hint="start it with a line such as #!/bin/sh") from None

    if words:
        return [*words, str(started)]

    interpreter = _INTERPRETERS.get(PurePosixPath(file.name).suffix.lower())
    if interpreter is None:
        raise RefusedError(
            f"no program for {file.name}",
            hint="start it with a line such as #!/bin/sh",
        )

    return [*interpreter, str(started)]


def _environment(record: Record, file: Path, order: RunOptions) -> dict[str, str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name in INHERITED or name.startswith("LC_")
    }
    passed = {name: os.environ[name] for name in order.passed if name in os.environ}
    return {**inherited, **passed, ID_VARIABLE: record.id, PATH_VARIABLE: str(file)}


def _start(
    root: Path,
    words: Sequence[str],
    environment: Mapping[str, str],
    order: RunOptions,
) -> RunResult:
    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        streams: dict[str, Any] = {}
        if order.captured:
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}

        try:
            process = subprocess.Popen(
                words,
                cwd=root,
                env=environment,
                start_new_session=True,
                **streams,
            )
        except (OSError, ValueError) as error:
            cause = (getattr(error, "strerror", None) or str(error)).lower()
            hint = "install it, or correct the first line of the script"
            fault = f"it can't be started: {cause}"
            raise ProgramError(f"`{words[0]}`: {fault}", hint=hint, fault=fault) from None

        over = False
        with process:
            try:
                code = process.wait(order.seconds)
                # Background processes of the script were not reviewed.
                _signal(process, signal.SIGKILL)
            except subprocess.TimeoutExpired:
                over = True
                code = _terminate(process)
            except BaseException:
                # A person stopped us: the script is in another session and got no signal.
                _terminate(process)
                raise

        if over:
            code = TIMED_OUT
        elif code < 0:
            code = 128 - code

        return RunResult(code, time.monotonic() - began, over, _tail(out), _tail(err))


def _terminate(process: subprocess.Popen[bytes]) -> int:
    _signal(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)

    _signal(process, signal.SIGKILL)
    return process.wait()


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - OUTPUT_LIMIT, 0))
    return file.read().decode("utf-8", "replace")


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
