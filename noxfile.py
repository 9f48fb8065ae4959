"""Every task of a maintainer, one session each; it owns where things are installed and must not
hold product logic.

Most sessions share one environment, `.nox/dev-<Python>`, which holds only what the sessions run so
far have needed: building the site never waits for the linters. What is installed is written next to
it, so a session whose needs have not changed installs nothing. The releases in it are those of
`requirements-dev.txt`, so no release of others changes what a session does; `lock` writes that
file, and `newest` tries what it would be today.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from pathlib import Path

import nox
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

nox.needs_version = ">=2025.2.9"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["tests", "lint", "check"]

ROOT = Path(__file__).parent
SHARED = ROOT / ".nox" / f"dev-{sys.version_info.major}.{sys.version_info.minor}"
PROJECT = nox.project.load_toml("pyproject.toml")
EXTRAS = ("enforce", "fleet", "mcp", "notify", "otel", "site")
ACTION_LOCKS = {
    "requirements-action.txt": ("enforce",),
    "requirements-action-site.txt": ("enforce", "site"),
}
"""The files that `action.yml` installs from, each with its extras."""
GROUPS = ("editable", "lint", "test")
LOCK = ROOT / "requirements-dev.txt"
"""Every release that the shared environment may get, with its hashes;
of EXTRAS and GROUPS, for each Python.
"""

LINTERS = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    ("mypy",),
    ("lint-imports",),
    ("codespell",),
)

AGENTS = (
    "@anthropic-ai/claude-code@2.1.197",
    "@github/copilot@1.0.102",
    "@google/gemini-cli@0.61.0",
    "@openai/codex@0.169.0",
    "opencode-ai@1.18.33",
)
"""Agents that run without an account where their model is named."""


GENERATORS = {
    "properdocs": ("properdocs==1.6.7", "mkdocs-materialx==10.2.2"),
    "materialx": ("mkdocs==1.6.1", "mkdocs-materialx==10.2.2"),
    "zensical": ("zensical==0.0.73",),
}
"""What makes the same pages as MkDocs and Material, each with the last releases that were tried."""


def fingerprint() -> str:
    """Return a digest of everything in `pyproject.toml` and the lock that decides what an install
    brings.
    """
    parts = [
        PROJECT["project"],
        PROJECT["build-system"],
        PROJECT["dependency-groups"],
        PROJECT["tool"]["hatch"],
    ]
    parts.append(LOCK.read_text("utf-8"))
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def environment(session: nox.Session, *needs: str) -> Path:
    """Bring the shared environment up to `needs`, names of extras or dependency groups,
    and return its `bin`.
    """
    stamp = SHARED / "installed.json"
    installed = json.loads(stamp.read_text("utf-8")) if stamp.is_file() else {}
    if installed.get("fingerprint") == fingerprint() and set(needs) <= set(installed["needs"]):
        return SHARED / "bin"
    python = SHARED / "bin" / "python"
    if not python.exists():
        session.run(sys.executable, "-m", "virtualenv", "--quiet", str(SHARED), external=True)
    wanted = sorted({"editable", *needs, *installed.get("needs", ())})
    requirements = SHARED / "requirements.txt"
    requirements.write_text(locked(session, direct(wanted)), "utf-8")
    install(session, python, "--require-hashes", "--requirement", str(requirements))
    # What builds the package has just been installed: it is locked too.
    install(session, python, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    stamp.write_text(json.dumps({"fingerprint": fingerprint(), "needs": wanted}), "utf-8")
    return SHARED / "bin"


def direct(needs: list[str]) -> set[str]:
    """Return the names of the packages that this package, and some of its extras and groups,
    ask for themselves.
    """
    texts = [*PROJECT["project"]["dependencies"]]
    for need in needs:
        if need in GROUPS:
            texts += nox.project.dependency_groups(PROJECT, need)
        else:
            texts += PROJECT["project"]["optional-dependencies"][need]
    return {canonicalize_name(Requirement(text).name) for text in texts}


def locked(session: nox.Session, names: set[str]) -> str:
    """Return the part of the lock that pins some packages and everything that they need."""
    pins = re.findall(r"(?m)^[a-z0-9].*\n(?: .*\n)*", LOCK.read_text("utf-8"))
    packages = [pin.partition("==")[0] for pin in pins]
    if missing := names.difference(packages):
        session.error(f"{LOCK.name} lacks {', '.join(sorted(missing))}: python3 -m nox -s lock")

    # Comments in a pin name what asks for it: `# via NAME`, or one NAME a line.
    askers = [set(re.findall(r"(?m)^ +# (?:via|  ) *([\w.-]+)$", pin)) for pin in pins]
    chosen: set[str] = set()
    while names != chosen:
        chosen = names
        pairs = zip(packages, askers, strict=True)
        names = chosen | {package for package, asking in pairs if asking & chosen}
    return "".join(pin for pin, package in zip(pins, packages, strict=True) if package in chosen)


def install(session: nox.Session, python: Path, *requirements: str) -> None:
    """Install into the environment of a Python:
    by uv, in a tenth of pip's time, or by pip where uv can't.
    """
    uv = shutil.which("uv")
    if uv:
        try:
            session.run(
                uv,
                "pip",
                "install",
                "--quiet",
                "--python",
                str(python),
                *requirements,
                external=True,
            )
            return
        except nox.command.CommandFailed:
            session.warn("uv could not install: pip tries it")
    session.run(str(python), "-m", "pip", "install", "--quiet", *requirements, external=True)


def run(session: nox.Session, bin_folder: Path, program: str, *arguments: str) -> None:
    """Run a program of the shared environment."""
    session.run(str(bin_folder / program), *arguments, external=True)


def in_memory() -> dict[str, str]:
    """Return the variable that lets tests write to memory, where there is enough:
    there they wait for no disk.
    """
    memory = Path("/dev/shm")
    if (
        "TMPDIR" in os.environ
        or not os.access(memory, os.W_OK)
        or shutil.disk_usage(memory).free < 4 << 30
    ):
        return {}
    return {"TMPDIR": str(memory)}


@nox.session(venv_backend="none")
def tests(session: nox.Session) -> None:
    """Run the tests; arguments go to pytest."""
    tools = environment(session, "enforce", "fleet", "mcp", "notify", "otel", "site", "test")
    words = ("-n", "auto", "--dist", "worksteal", *session.posargs)
    session.run(str(tools / "pytest"), *words, external=True, env=in_memory())


@nox.session(venv_backend="none", default=False)
def fleet(session: nox.Session) -> None:
    """Ask a lake through a real Spark Connect server, Sail, in a folder and in an object store."""
    tools = environment(session, "fleet", "site", "test")
    install(session, tools / "python", "pyspark-client==4.2.0", "pysail==0.7.2", "pandas<3")
    run(session, tools, "pytest", "tests/extras/fleet/test_fleet_spark.py", *session.posargs)


@nox.session(default=False)
def ducklake(session: nox.Session) -> None:
    """Read the files of a lake through a catalogue of DuckLake."""
    environment(session, "fleet", "site", "test")
    # The extension needs an older DuckDB than the shared environment has: this one has both, and
    # all else from there.
    session.install("duckdb-extension-ducklake>=1.5.5")
    script = "import site; print(site.getsitepackages()[0])"
    folder = str(session.run("python", "-c", script, silent=True)).strip()
    (shared,) = (SHARED / "lib").glob("python*/site-packages")
    line = f"import site; site.addsitedir({str(shared)!r})\n"
    (Path(folder) / "shared.pth").write_text(line, "utf-8")
    words = ("tests/extras/fleet/test_fleet_ducklake.py", *session.posargs)
    session.run("python", "-m", "pytest", *words, env=in_memory())


@nox.session(venv_backend="none")
def lint(session: nox.Session) -> None:
    """Check style, types, layers and spelling."""
    tools = environment(session, "enforce", "fleet", "mcp", "site", "test", "lint")
    failed = []
    for program, *arguments in LINTERS:
        try:
            run(session, tools, program, *arguments)
        except nox.command.CommandFailed:
            failed.append(program)
    if failed:
        session.error(f"not satisfied: {', '.join(failed)}")


@nox.session(venv_backend="none")
def check(session: nox.Session) -> None:
    """Run the gate on our own records."""
    run(session, environment(session), "orbit", "check", *session.posargs)


@nox.session(name="build-site", venv_backend="none")
def build_site(session: nox.Session) -> None:
    """Build this repository's site into build/site."""
    run(
        session,
        environment(session, "site"),
        "orbit",
        "site",
        "build",
        "--out",
        "build/site",
        *session.posargs,
    )


@nox.session(name="serve-site", venv_backend="none", default=False)
def serve_site(session: nox.Session) -> None:
    """Serve the site on this machine and rebuild it when a file changes;
    arguments go to `orbit site serve`.
    """
    run(session, environment(session, "site"), "orbit", "site", "serve", *session.posargs)


@nox.session(name="adr-add", venv_backend="none", default=False)
def adr_add(session: nox.Session) -> None:
    """Add a decision: nox -s adr-add -- --feature F --title T."""
    run(session, environment(session), "orbit", "adr", "add", *session.posargs)


@nox.session(venv_backend="none", default=False)
def reference(session: nox.Session) -> None:
    """Write the man page, and the pages of commands and of the Python API in docs/reference."""
    run(
        session,
        environment(session),
        "python",
        "tooling/reference_pages.py",
        "docs/reference",
        "tooling/man/orbit.1",
    )


@nox.session(venv_backend="none", default=False)
def proof(session: nox.Session) -> None:
    """Write what `orbit prove` says of this repository into docs/reference/proof.md."""
    text = session.run(str(environment(session) / "orbit"), "prove", external=True, silent=True)
    what, table, _ = str(text).split("\n\n")
    page = ROOT / "docs" / "reference" / "proof.md"
    head, begin, rest = page.read_text("utf-8").partition("<!-- proof:begin -->\n")
    _, end, tail = rest.partition("<!-- proof:end -->\n")
    page.write_text(f"{head}{begin}{what}\n\n{table}\n\n{end}{tail}", "utf-8")


@nox.session(venv_backend="none", default=False)
def snapshot(session: nox.Session) -> None:
    """Write the snapshot to build/snapshot.duckdb, or to the file given."""
    tools = environment(session)
    (ROOT / "build").mkdir(exist_ok=True)
    run(
        session,
        tools,
        "orbit",
        "snapshot",
        "export",
        *(session.posargs or ["build/snapshot.duckdb"]),
    )


@nox.session(venv_backend="none", default=False)
def bench(session: nox.Session) -> None:
    """Measure, and write the figures to docs/explanation/benchmarks.md."""
    run(
        session,
        environment(session, "site", "test"),
        "python",
        "-m",
        "tests.bench",
        *session.posargs,
    )


@nox.session(name="mcp-conformance", venv_backend="none", default=False)
def mcp_conformance(session: nox.Session) -> None:
    """Try the MCP server with the protocol's inspector and conformance suite,
    which come from npm.
    """
    if shutil.which("npm") is None:
        session.skip("npm is not here: install Node 20")
    tools = environment(session, "mcp", "test")
    run(
        session, tools, "python", "-m", "tests.conformance", str(ROOT / "build" / "mcp-conformance")
    )


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build the wheel and use it as a newcomer would,
    in a clean environment and a fresh repository.
    """
    session.install("build")
    dist, clean = ROOT / "dist", Path(session.create_tmp()).resolve() / "clean"
    for folder in (dist, clean):
        shutil.rmtree(folder, ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", str(dist))
    (wheel,) = dist.glob("*.whl")
    session.run(sys.executable, "-m", "virtualenv", "--quiet", str(clean), external=True)
    session.run(
        str(clean / "bin/python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        f"{wheel}[site]",
        external=True,
    )
    pytest = environment(session, "mcp", "site", "test") / "pytest"
    pages = "tests/acceptance/test_first_steps.py"
    session.run(
        str(pytest), "-n", "auto", pages, external=True, env={"ORBIT_BIN": str(clean / "bin")}
    )


@nox.session(default=False)
def zensical(session: nox.Session) -> None:
    """Build a site through Zensical instead of MkDocs, and compare all pages."""
    compare_generator(session, "zensical")


@nox.session(default=False)
def properdocs(session: nox.Session) -> None:
    """Build a site through ProperDocs and MaterialX, and compare all pages."""
    compare_generator(session, "properdocs")


@nox.session(default=False)
def materialx(session: nox.Session) -> None:
    """Build a site through MkDocs with MaterialX, and compare all pages."""
    compare_generator(session, "materialx")


def compare_generator(session: nox.Session, generator: str) -> None:
    """Build a site through a generator in this session's environment, and another through MkDocs
    with Material in the shared one, and compare all their pages.
    """
    site = PROJECT["project"]["optional-dependencies"]["site"]
    others = [text for text in site if not text.startswith("mkdocs")]
    session.install("--editable", ".", *others, *GENERATORS[generator])
    python = session.run("python", "-c", "import sys; print(sys.executable)", silent=True)
    tools = environment(session, "site", "test")
    session.run(
        str(tools / "pytest"),
        "tests/acceptance/test_site_generators.py",
        *session.posargs,
        external=True,
        env={"ORBIT_GENERATOR": generator, "ORBIT_GENERATOR_PYTHON": str(python).strip()},
    )


@nox.session(default=False)
def agents(session: nox.Session) -> None:
    """Run the hook and the MCP server in real agents, which npm brings,
    each with a model on loopback.
    """
    requirements = nox.project.dependency_groups(PROJECT, "test")
    session.install("--editable", ".[mcp]", *requirements)
    folder = ROOT / ".nox" / "agent-programs"
    session.run(
        "npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", *AGENTS, external=True
    )
    session.run(
        "pytest",
        "tests/agents",
        *session.posargs,
        env={"ORBIT_AGENTS": str(folder / "node_modules/.bin")},
    )


@nox.session(default=False)
def lock(session: nox.Session) -> None:
    """Add to the locks what `pyproject.toml` asks for;
    with `-- --upgrade`, the newest release of everything.
    """
    session.install("uv")
    extras = [f"--extra={extra}" for extra in EXTRAS]
    groups = [f"--group={group}" for group in GROUPS]
    form = ["--universal", "--generate-hashes", "--python-version=3.11"]
    output = ["--custom-compile-command=nox -s lock", f"--output-file={LOCK.name}"]
    words = [*form, *extras, *groups, *output, *session.posargs]
    session.run("uv", "pip", "compile", "--quiet", *words, "pyproject.toml")

    # What the action installs: the same releases, and what builds the package itself.
    for name, chosen in ACTION_LOCKS.items():
        extras = [f"--extra={extra}" for extra in chosen]
        pins = ["--group=wheel", f"--constraint={LOCK.name}"]
        output = ["--custom-compile-command=nox -s lock", f"--output-file={name}"]
        words = [*form, *extras, *pins, *output]
        session.run("uv", "pip", "compile", "--quiet", *words, "pyproject.toml")


@nox.session(default=False, reuse_venv=False)
def newest(session: nox.Session) -> None:
    """Try the newest release of everything: run the quick tests and those of all outputs,
    and build the site.
    """
    requirements = nox.project.dependency_groups(PROJECT, "test")
    python = Path(session.bin) / "python"
    install(session, python, "--editable", f"{ROOT}[{','.join(EXTRAS)}]", *requirements)
    words = ("-n", "auto", "--dist", "worksteal", "-m", "quick or golden", *session.posargs)
    session.run("pytest", *words, env=in_memory())
    session.run("orbit", "site", "build", "--out", "build/newest-site")


@nox.session(default=False)
def minimums(session: nox.Session) -> None:
    """Run the tests with the oldest direct dependencies that `pyproject.toml` admits."""
    session.install("uv")
    requirements = nox.project.dependency_groups(PROJECT, "test")
    session.run(
        "uv",
        "pip",
        "install",
        "--resolution",
        "lowest-direct",
        "--editable",
        ".[mcp,site]",
        *requirements,
    )
    session.run("pytest", "-n", "auto", *session.posargs)
