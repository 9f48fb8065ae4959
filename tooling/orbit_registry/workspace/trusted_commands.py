"""Trusted commands: which of the configured commands this user allowed, and running them.

Allowed commands are stored in the user's configuration, with hashes of the repository's files that
they name: after a pull that changes a script it has to be allowed again. `ORBIT_PROGRAMS=on|off`
overrides this.
"""

import contextlib
import hashlib
import itertools
import json
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from orbit_registry.errors import OrbitError, ProgramError, RefusedError
from orbit_registry.workspace.files import read_bytes, read_object, write_atomic
from orbit_registry.workspace.workspace import Workspace, git_folder, user_home, work_tree

Commands = Mapping[str, tuple[str, ...]]  # commands by their configuration key
LARGEST = 1_000_000  # bytes of a program's output, and of a file of allowed commands
LONGEST_COMPLAINT = 500  # characters of a program's error output in a message
SWITCH = "ORBIT_PROGRAMS"  # the environment variable that allows or forbids all commands
_OTHERS_WRITE = 0o022
_BETWEEN = re.compile(r"[\s;|&()<>{}\[\]`$\"'=,:]+")
"""Separators of names within a word: of shell code, an option with its value, or JSON."""


COMMIT = "the commit checked out"
"""A name for all files, where a command starts something that no text names."""
READ_BY_TOOLS: Mapping[str, Sequence[str]] = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "npm": ("package.json", ".npmrc"),
    "npx": ("package.json", ".npmrc"),
    "pnpm": ("package.json", ".npmrc"),
    "yarn": ("package.json", ".yarnrc.yml"),
    "bun": ("package.json", "bunfig.toml"),
    "node": ("package.json",),
    "nox": ("noxfile.py",),
    "tox": ("tox.ini", "pyproject.toml", "setup.cfg"),
    "python": ("pyproject.toml",),
    "python3": ("pyproject.toml",),
    "uv": ("pyproject.toml", "uv.toml"),
    "uvx": ("pyproject.toml", "uv.toml"),
    "poetry": ("pyproject.toml",),
    "pdm": ("pyproject.toml",),
    "hatch": ("pyproject.toml", "hatch.toml"),
    "invoke": ("tasks.py",),
    "rake": ("Rakefile",),
    "cargo": ("Cargo.toml", "build.rs"),
}
"""The files that tools read in the folder where they start."""
_TOOL_FILES = frozenset(itertools.chain.from_iterable(READ_BY_TOOLS.values()))
_CHANGES_FOLDER = frozenset({"cd", "-C", "--prefix", "--directory", "--cwd", "pushd"})
_SCRIPTS = (".sh", ".bash", ".zsh", ".py", ".mk", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl")
_IMPORTS = re.compile(r"(?m)^[ \t]*(?:from|import)[ \t]+([A-Za-z_][\w.]*)")
_UNSEEN = re.compile(
    r"\beval\b|\bxargs\b|\bimportlib\b|__import__|\bexec\(|-exec\b|(?:^|[;&|]|\.|source)[ \t]*\"?\$"
)
"""What starts or reads something that the text does not name."""
_DEEPEST = 5
_MOST_FILES = 500
_LONGEST_NAME = 500


def configured_commands(workspace: Workspace) -> dict[str, tuple[str, ...]]:
    """Return every command in the configuration.

    A search model counts as one: loading it may run code.
    """
    config = workspace.config
    model = config.setting("search", "model")
    commands = {
        "tasks.command": config.tasks.command,
        "tasks.classifier": config.tasks.classifier,
        "capture.command": config.setting("capture", "command"),
        "search.command": config.setting("search", "command"),
    }
    if model:
        commands["search.model"] = [model]

    sources = config.setting("brief", "sources") or {}
    for name, source in sources.items():
        commands[f"brief.sources.{name}"] = (source or {}).get("command")

    return {key: tuple(words) for key, words in commands.items() if words}


def allowed(workspace: Workspace) -> Commands:
    """Return the allowed commands; in the user's own workspace all that are configured."""
    return _allowed(workspace)[0]


def _allowed(workspace: Workspace) -> tuple[Commands, Mapping[str, Mapping[str, str]] | None]:
    if workspace.root == user_home().resolve():
        return configured_commands(workspace), None
    file = _file(workspace)
    content = {} if file is None else _content(file)
    files = content.get("files")
    return _commands(content), files if isinstance(files, Mapping) else {}


def forced_by_environment() -> bool | None:
    """Return whether the environment allows or forbids all commands; None where it does neither."""
    value = os.environ.get(SWITCH, "").casefold()
    if value in ("on", "1", "yes", "true"):
        return True
    if value in ("off", "0", "no", "false"):
        return False
    return None


def files_of(workspace: Workspace, words: Sequence[str]) -> dict[str, str]:
    """Return hashes of the repository's files that a command names, and of those that these name:
    paths from the root and from each folder that it changes to, modules, what a script sources or
    imports, and what a tool reads without being told.

    Where a command starts what no text names, the commit checked out is among them.
    """
    root = workspace.root
    hashes: dict[str, str] = {}
    folders = [""]
    texts = [(_pieces(words), "")]
    is_unseen = any(map(_UNSEEN.search, words))

    for _ in range(_DEEPEST):
        inner: list[tuple[list[str], str]] = []
        for pieces, home in texts:
            folders += [folder for folder in _folders_in(pieces) if folder not in folders]
            places = dict.fromkeys((*folders, home))
            for name in dict.fromkeys(_names_in(pieces, places)):
                hashed = "" if name in hashes else _hash(root, name)
                if not hashed or len(hashes) >= _MOST_FILES:
                    continue

                hashes[name] = hashed
                content = _script(root, name)
                is_unseen |= _UNSEEN.search(content) is not None
                inner.append((_pieces([content, *_imports_of(name, content)]), _home_of(name)))

        texts = inner

    commit = workspace.git.head() if is_unseen else None
    if commit:
        return {**hashes, COMMIT: commit}

    return hashes


def _pieces(texts: Iterable[str]) -> list[str]:
    """Return texts and their words, each once and in their order."""
    pieces: dict[str, None] = {}
    for text in texts:
        pieces.update(dict.fromkeys((text, *_BETWEEN.split(text))))

    return list(pieces)


def _home_of(name: str) -> str:
    return name.rpartition("/")[0]


def _folders_in(pieces: Sequence[str]) -> Iterator[str]:
    """Yield the folders that a command changes to: after `cd`, `-C` and `--prefix`."""
    for before, folder in itertools.pairwise(pieces):
        if before in _CHANGES_FOLDER:
            yield os.path.normpath(folder)


def _names_in(pieces: Iterable[str], folders: Iterable[str]) -> Iterator[str]:
    """Yield the files that words may mean in some folders, and those that a tool reads there."""
    names: list[str] = []
    for piece in pieces:
        names += (*_file_names(piece), *_read_by(piece))

    for folder in folders:
        for name in names:
            yield os.path.normpath(f"{folder}/{name}") if folder else name


def _read_by(word: str) -> Sequence[str]:
    """Return the files that a tool reads without being told."""
    tool = word.rpartition("/")[2]
    return READ_BY_TOOLS.get(tool, ())


def _script(root: Path, name: str) -> str:
    """Return the text of a file that may start or read others; empty for data."""
    is_script = name.endswith(_SCRIPTS) or "." not in name.rpartition("/")[2]
    if not is_script and name.rpartition("/")[2] not in _TOOL_FILES:
        return ""

    try:
        return read_bytes(root / name, limit=LARGEST).decode("utf-8", "replace")
    except OrbitError:
        return ""


def _imports_of(name: str, content: str) -> list[str]:
    """Return the modules that a file of Python imports."""
    if name.endswith(".py"):
        return _IMPORTS.findall(content)

    return []


def _file_names(word: str) -> Iterator[str]:
    """Yield the files that a word may mean: a path, a folder with a program,
    a module and the packages around it.
    """
    if not word or len(word) > _LONGEST_NAME:
        return

    yield os.path.normpath(word)
    yield os.path.normpath(f"{word}/__main__.py")
    if not word.replace(".", "").isidentifier():
        return

    module = word.replace(".", "/")
    yield f"{module}.py"
    yield f"{module}/__main__.py"

    for at, letter in enumerate(f"{module}/"):
        if letter == "/" and at:
            yield f"{module[:at]}/__init__.py"


def _hash(root: Path, name: str) -> str:
    top = work_tree(root)
    file = Path(os.path.normpath(root / name))
    try:
        if file.is_file() and any(path.is_relative_to(top) for path in (file, file.resolve())):
            with file.open("rb") as content:
                return hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, ValueError):
        pass

    return ""


def permission_state(workspace: Workspace, key: str, words: Sequence[str]) -> str:
    """Return `allowed`, `new` or `changed` for a configured command."""
    return _permission(workspace, key, words)[0]


def _permission(workspace: Workspace, key: str, words: Sequence[str]) -> tuple[str, str]:
    commands, files = _allowed(workspace)
    if key not in commands:
        return "new", "you have not allowed what {where} names"
    if commands[key] != tuple(words):
        return "changed", "what {where} names is not what you allowed"
    if files is not None and files.get(key, {}) != files_of(workspace, words):
        return "changed", "what {where} names starts a file that changed since you allowed it"
    return "allowed", ""


def refusal_reason(
    workspace: Workspace, key: str, words: Sequence[str], where: str = ".orbit/config.yaml"
) -> str:
    """Return why a configured command may not run; empty where it may."""
    switch = forced_by_environment()
    if switch:
        return ""
    if switch is not None:
        return f"{SWITCH} is off"

    reason = _permission(workspace, key, words)[1]
    return reason and f"{reason.format(where=where)}; `orbit trust` shows it and asks"


def allow(workspace: Workspace, commands: Commands, files: Mapping[str, Mapping[str, str]]) -> Path:
    """Allow these commands and no others for the repository; return the file that stores it."""
    file = _file(workspace)
    if file is None:
        message = f"{_folder()} can't hold what is allowed: a repository could bring it"
        raise RefusedError(
            message, hint="set XDG_CONFIG_HOME to your folder outside the repository"
        )

    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = {
        "repository": str(_main_work_tree(workspace.root)),
        "commands": commands,
        "files": files,
    }
    write_atomic(file, json.dumps(content, indent=2) + "\n", mode=0o600)

    return file


def revoke(workspace: Workspace) -> bool:
    """Forget what was allowed for the repository; return whether there was anything."""
    file = _file(workspace)
    if file is None or not file.exists():
        return False
    file.unlink()
    return True


def allowed_repositories() -> Iterator[tuple[str, Commands]]:
    """Yield the repositories with allowed commands, sorted."""
    contents = [_content(file) for file in sorted(_folder().glob("*.json"))]
    by_repository = {str(content.get("repository", "")): _commands(content) for content in contents}
    yield from sorted(
        (repository, commands) for repository, commands in by_repository.items() if commands
    )


def _folder() -> Path:
    configured = os.environ.get("XDG_CONFIG_HOME", "")
    folder = Path(configured) if configured.startswith("/") else user_home() / ".config"
    return folder / "orbit-registry" / "allowed"


def _file(workspace: Workspace) -> Path | None:
    """Return the file of a repository's allowed commands;
    None where it would lie in the repository.
    """
    folder = _folder()
    if not folder.is_absolute() or folder.resolve().is_relative_to(workspace.root):
        return None
    name = hashlib.sha256(os.fsencode(_main_work_tree(workspace.root))).hexdigest()[:32]
    return folder / f"{name}.json"


def _main_work_tree(root: Path) -> Path:
    """Return the main work tree, which names a repository;
    git's folder points back, as an archive's can't.
    """
    git_dir = git_folder(root)
    try:
        git_dir = git_dir.resolve() if git_dir is not None else root
        dot_git = Path((git_dir / "gitdir").read_text("utf-8").strip())
        common = (git_dir / (git_dir / "commondir").read_text("utf-8").strip()).resolve()
        below = root.relative_to(dot_git.parent)
    except (OSError, ValueError):
        return root

    if git_dir.parent != common / "worktrees" or common.name != ".git":
        return root

    return common.parent / below


def _content(file: Path) -> Mapping[str, object]:
    try:
        info = file.lstat()
        if info.st_uid != os.getuid() or info.st_mode & _OTHERS_WRITE:
            return {}
    except OSError:
        return {}

    return read_object(file, limit=LARGEST)


def _commands(content: Mapping[str, object]) -> Commands:
    value = content.get("commands")
    entries = value if isinstance(value, Mapping) else {}
    return {
        str(key): tuple(map(str, words))
        for key, words in entries.items()
        if isinstance(words, list)
    }


def not_run_message(workspace: Workspace, key: str) -> str:
    """Return why the program under a configuration key is not run;
    empty where it is, or there is none.
    """
    words = configured_commands(workspace).get(key)
    if not words:
        return ""
    reason = refusal_reason(workspace, key, words)
    return reason and f"`{key}` was not run: {reason}"


def run_program(
    workspace: Workspace,
    key: str,
    seconds: float,
    stdin_text: str = "",
    filled: Mapping[str, str] | None = None,
) -> str:
    """Return the output of a configured program, placeholders `filled`;
    the `fault` of an error never quotes it.
    """
    refused = not_run_message(workspace, key)
    if refused:
        raise ProgramError(refused, hint="`orbit trust`", fault=refused)

    words = list(configured_commands(workspace)[key])
    for placeholder, value in (filled or {}).items():
        words = [word.replace(placeholder, value) for word in words]

    return _run(words, workspace.root, seconds, stdin_text)


def _run(words: Sequence[str], folder: Path, seconds: float, stdin_text: str) -> str:
    name = words[0]
    with tempfile.TemporaryFile() as stdin:
        stdin.write(stdin_text.encode("utf-8", "replace"))
        stdin.seek(0)

        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            message = f"it can't be started: {reason.lower()}"
            raise _failed(name, message, "install it, or name it by its path") from None

    with process:
        try:
            output, complaint = _read(process, name, time.monotonic() + seconds, seconds)
        finally:
            _end(process)

    if process.returncode:
        lines = (complaint or output).decode("utf-8", "replace").strip()[-LONGEST_COMPLAINT:]
        raise _failed(
            name, f"it ended with exit code {process.returncode}", "run it by hand", lines
        )

    try:
        return output.decode("utf-8")
    except UnicodeDecodeError:
        raise _failed(name, "what it printed is not valid UTF-8", "let it print UTF-8") from None


def _read(
    process: subprocess.Popen[bytes], name: str, end: float, seconds: float
) -> tuple[bytes, bytes]:
    parts: dict[int, list[bytes]] = {}
    size = 0
    with selectors.DefaultSelector() as waiting:
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            parts[pipe.fileno()] = []
            waiting.register(pipe, selectors.EVENT_READ)

        while waiting.get_map():
            remaining = end - time.monotonic()
            ready = waiting.select(max(remaining, 0))
            if not ready and remaining <= 0:
                hint = "make it faster, or raise `tasks.timeout_seconds`"
                raise _failed(name, f"it took more than {seconds:g} s", hint)

            for key, _ in ready:
                content = os.read(key.fd, 1 << 16)
                if not content:
                    waiting.unregister(key.fileobj)

                parts[key.fd].append(content)
                size += len(content)
                if size > LARGEST:
                    raise _failed(
                        name, f"it printed more than {LARGEST:,} bytes", "let it print less"
                    )

    # WNOWAIT leaves it a zombie, so that its group id can't be reused before `_end` kills the
    # group. No portable call waits for this with a limit, hence the polling; the output has ended,
    # so the process ends soon.
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > end:
            raise _failed(
                name, f"it took more than {seconds:g} s", "let it end once it has printed"
            )
        time.sleep(0.002)

    output, complaint = parts.values()
    return b"".join(output), b"".join(complaint)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _failed(name: str, fault: str, hint: str, printed: str = "") -> ProgramError:
    message = f"`{name}`: {fault}"
    if printed:
        message += f"; it printed: {printed}"
    return ProgramError(message, hint=hint, fault=fault)
