"""A collection: repositories of every kind into one lake, again, killed, and at once."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import which
from typing import Any, ClassVar

import pytest
from tests.acceptance.cli.conftest import answer
from tests.acceptance.conftest import orbit
from tests.extras.fleet.conftest import ask
from tests.files import commit, make_workspace, write, write_record

from orbit_fleet.collect import token_settings
from orbit_fleet.forges import FORGES, apis_of
from orbit_fleet.sources import Problem, Source, sources_in

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
STATE = "SELECT repository, id, title FROM records ORDER BY ALL"
REMOTE = ("git", "config", "remote.origin.url")


def repository(folder: Path, name: str) -> Path:
    root = folder / name
    root.mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    write(root, "README.md", f"# {name}\n")
    return root


def decide(root: Path, number: int, title: str, status: str = "Accepted") -> None:
    decision = f"We {title.lower()} everywhere."
    text = f"# {number}. {title}\n\nStatus: {status}\n\n## Decision\n\n{decision}\n"
    write(root, f"docs/adr/{number:04d}-x.md", text)


def plain(root: Path) -> None:
    decide(root, 1, f"Use {root.name}")
    decide(root, 2, "Use Redis")


def with_orbit(root: Path) -> None:
    make_workspace(root)
    fields = {"title": "Use NATS", "status": "accepted", "source": {"path": "docs/adr/0001-x.md"}}
    decide(root, 1, "Use NATS")
    write_record(root, ".orbit/adrs/ADR-0001/adr.yaml", **fields)


def broken(root: Path) -> None:
    make_workspace(root)
    write(root, ".orbit/adrs/ADR-0001/adr.yaml", "title: [\n")


def newer(root: Path) -> None:
    make_workspace(root)
    write(root, ".orbit/config.yaml", "format: orbit-registry\nschema_version: 99\n")


def twice_one_id(root: Path) -> None:
    make_workspace(root)
    for name in ("ADR-0001", "ADR-0002"):
        fields = {"id": "ADR-0001", "title": name, "status": "accepted"}
        write_record(root, f".orbit/adrs/{name}/adr.yaml", **fields)


def secret(root: Path) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    decide(root, 1, f"Use the key {key}")


def links(root: Path) -> None:
    plain(root)
    (root / "docs/adr/0003-x.md").symlink_to("/etc/hostname")
    (root / "docs/more").symlink_to("/etc")


def without_decisions(root: Path) -> None:
    write(root, "src/app.py", "pass\n")


KINDS: Mapping[str, tuple[Callable[[Path], None], str, int]] = {
    "plain": (plain, "written", 2),
    "orbit": (with_orbit, "written", 1),
    "broken": (broken, "failed", 0),
    "newer": (newer, "failed", 0),
    "secret": (secret, "written", 1),
    "links": (links, "written", 2),
    "without": (without_decisions, "empty", 0),
}
"""What a repository has, what becomes of it, and how many records it has in the lake."""


def collect(folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    """Collect in a folder, and return what became of each repository."""
    text = orbit(
        folder, "fleet", "collect", *words, "--cache", "cache", "--format", "json", code=code
    )
    data: dict[str, Any] = json.loads(text)["data"]
    assert list(answer("fleet collect").iter_errors(data)) == []
    return data


@pytest.fixture(scope="module")
def organisation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a checkout of each kind, and its lake."""
    folder = tmp_path_factory.mktemp("organisation")
    for name, (make, _, _) in KINDS.items():
        root = repository(folder / "repos", name)
        make(root)
        commit(root)

    twice = repository(folder / "repos", "twice")
    twice_one_id(twice)
    commit(twice)
    subprocess.run(["git", "init", "-q", folder / "repos/unborn"], check=True)
    subprocess.run(
        ["git", "clone", "-q", folder / "repos/plain", folder / "repos/zfork"], check=True
    )
    subprocess.run(
        [*REMOTE, "https://forge.example/acme/zfork.git"], cwd=folder / "repos/zfork", check=True
    )
    shallow = ("--depth=1", f"file://{folder}/repos/plain", folder / "repos/shallow")
    subprocess.run(["git", "clone", "-q", *shallow], check=True)
    collect(folder, "repos", "--lake", "lake", code=1)
    return folder


def test_each_kind_of_repository_is_read_or_says_why_not(organisation: Path) -> None:
    data = collect(organisation, "repos", "--lake", "other", "--jobs", "2", code=1)
    outcomes = {
        each["repository"]: (each["outcome"], each["records"]) for each in data["repositories"]
    }
    expected = {name: (outcome, records) for name, (_, outcome, records) in KINDS.items()}
    assert {name: outcomes[name] for name in expected} == expected
    assert outcomes["unborn"] == ("empty", 0)
    assert outcomes["shallow"] == ("written", 2)
    assert outcomes["twice"][0] == "failed"
    failures = {each["repository"]: each["error"] for each in data["repositories"]}
    assert "adr.yaml:2" in failures["broken"]
    assert "Traceback" not in json.dumps(data)


def test_nothing_is_written_into_any_repository(organisation: Path) -> None:
    for root in (organisation / "repos").iterdir():
        status = subprocess.run(
            ["git", "status", "--porcelain", "--ignored"],
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
        )
        assert status.stdout == "", root.name


def test_no_secret_and_no_file_of_this_machine_reaches_the_lake(organisation: Path) -> None:
    rows = json.dumps(ask(organisation / "lake", "SELECT * FROM records"))
    assert "AKIA" + "IOSFODNN7EXAMPLQ" not in rows
    assert Path("/etc/hostname").read_text("utf-8").strip() not in rows


def test_a_second_collection_reads_nothing_again(organisation: Path) -> None:
    before = ask(
        organisation / "lake", "SELECT repository, pushed_at FROM repositories ORDER BY ALL"
    )
    data = collect(organisation, "repos", "--lake", "lake", code=1)
    assert data["written"] == 0
    assert data["unchanged"] + data["empty"] == len(data["repositories"]) - data["failed"]
    after = ask(
        organisation / "lake", "SELECT repository, pushed_at FROM repositories ORDER BY ALL"
    )
    assert after == before


def test_a_fork_counts_once_and_is_named(organisation: Path) -> None:
    rows = ask(organisation / "lake", "SELECT repository FROM records WHERE is_copy ORDER BY ALL")
    assert {row["repository"] for row in rows} in ({"acme/zfork"}, {"plain"})
    text = orbit(organisation, "fleet", "report", "members", "--lake", "lake", "--format", "json")
    states = {row["repository"]: row["state"] for row in json.loads(text)["data"][0]["rows"]}
    assert states["broken"] == states["newer"] == "never read"
    assert states["without"] == states["unborn"] == "without decisions"
    assert sorted(states).count("acme/zfork") + sorted(states).count("plain") == 1


def test_a_repository_that_breaks_keeps_its_records_and_says_why(tmp_path: Path) -> None:
    roots = [repository(tmp_path / "repos", name) for name in ("one", "two")]
    for root in roots:
        with_orbit(root)
        commit(root)
    collect(tmp_path, "repos", "--lake", "lake")
    write(roots[0], ".orbit/adrs/ADR-0001/adr.yaml", "title: [\n")
    commit(roots[0])
    data = collect(tmp_path, "repos", "--lake", "lake", code=1)
    assert [each["outcome"] for each in data["repositories"]] == ["failed", "unchanged"]
    assert [row["repository"] for row in ask(tmp_path / "lake", STATE)] == ["one", "two"]
    text = orbit(tmp_path, "fleet", "report", "members", "--lake", "lake", "--format", "json")
    assert json.loads(text)["data"][0]["rows"][0]["state"] == "failed"
    with_orbit(roots[0])
    commit(roots[0])
    collect(tmp_path, "repos", "--lake", "lake")
    assert ask(tmp_path / "lake", "SELECT error FROM repositories WHERE error <> ''") == []


def test_a_new_commit_is_read_and_a_lost_repository_is_named(tmp_path: Path) -> None:
    roots = [repository(tmp_path / "repos", name) for name in ("one", "two")]
    for root in roots:
        plain(root)
        commit(root)
    collect(tmp_path, "repos", "--lake", "lake")
    decide(roots[0], 3, "Use Kafka")
    commit(roots[0])
    (tmp_path / "list.txt").write_text(f"# ours\n{roots[0]} # the shop\n", "utf-8")
    name = str(roots[0]).strip("/")
    write(tmp_path, "list.yaml", f"repositories:\n  - {{address: '{roots[0]}', name: one}}\n")
    data = collect(tmp_path, "list.yaml", "--lake", "lake")
    assert (data["written"], data["missing"]) == (1, [])
    roots[1].rename(tmp_path / "away")
    assert collect(tmp_path, "repos", "--lake", "lake")["missing"] == ["two"]
    assert collect(tmp_path, "repos", "--lake", "lake")["missing"] == []
    assert [
        row["title"] for row in ask(tmp_path / "lake", STATE) if row["repository"] == "one"
    ] == [
        "Use one",
        "Use Redis",
        "Use Kafka",
    ]
    assert collect(tmp_path, "list.txt", "--lake", "other")["repositories"][0]["repository"] == name


def test_a_branch_and_a_folder_of_decisions_are_taken_from_the_list(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    commit(root)
    subprocess.run(["git", "checkout", "-qb", "next"], cwd=root, check=True)
    text = "# Use Redis\n\nStatus: Accepted\n\n## Decision\n\nWe use Redis for sessions.\n"
    write(root, "notes/choices/redis.md", text)
    commit(root)
    subprocess.run(["git", "checkout", "-q", "-"], cwd=root, check=True)
    entry = {"address": str(root), "name": "one", "branch": "next", "folder": "notes/choices"}
    write(tmp_path, "list.json", json.dumps([entry]))
    collect(tmp_path, "list.json", "--lake", "lake")
    assert ask(tmp_path / "lake", STATE) == [
        {"repository": "one", "id": "ADR-0001", "title": "Use Redis"}
    ]


def test_another_folder_in_the_list_is_read_without_a_new_commit(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    for folder, title in (("a", "Use Redis"), ("b", "Use Kafka")):
        text = f"# {title}\n\nStatus: Accepted\n\n## Decision\n\nWe do.\n"
        write(root, f"notes/{folder}/x.md", text)
    commit(root)

    read = []
    for folder in ("nots", "nots", "notes/a", "notes/b", "nots", "notes/b", "notes/b"):
        write(tmp_path, "list.json", json.dumps([{"address": str(root), "folder": folder}]))
        code = int(folder == "nots")
        data = collect(tmp_path, "list.json", "--lake", "lake", code=code)
        titles = [row["title"] for row in ask(tmp_path / "lake", STATE)]
        read.append((data["repositories"][0]["outcome"], *titles))

    assert read == [
        ("failed",),
        ("failed",),
        ("written", "Use Redis"),
        ("written", "Use Kafka"),
        ("failed", "Use Kafka"),
        ("unchanged", "Use Kafka"),
        ("unchanged", "Use Kafka"),
    ]


def test_a_new_commit_comes_without_the_history_before_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    for number in range(1, 6):
        decide(root, number, f"Use tool {number}")
        commit(root)

    write(tmp_path, "list.txt", f"{root.as_uri()}\n")
    collect(tmp_path, "list.txt", "--lake", "lake")
    decide(root, 6, "Use tool 6")
    commit(root)

    stopped = f'for word; do test "$word" != fetch || kill -9 $$; done\nexec {which("git")} "$@"\n'
    write(tmp_path, "slow/git", f"#!/bin/sh\n{stopped}")
    (tmp_path / "slow/git").chmod(0o755)
    trace = tmp_path / "trace"
    codes = []
    for folders in (f"{tmp_path / 'slow'}:{os.environ['PATH']}", os.environ["PATH"]):
        environment = {**os.environ, "GIT_TRACE_PACKET": str(trace), "PATH": folders}
        words = ("fleet", "collect", "list.txt", "--lake", "lake", "--cache", "cache")
        command = [sys.executable, "-m", "orbit_registry", *words]
        codes.append(subprocess.run(command, cwd=tmp_path, env=environment, check=False).returncode)

    assert codes == [1, 0]
    assert "fetch> have " in trace.read_text("utf-8")


def test_a_dry_run_makes_no_lake(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    assert collect(tmp_path, "repos", "--lake", "lake", "--dry-run")["written"] == 1
    assert not (tmp_path / "lake").exists()


def test_a_killed_collection_is_continued(tmp_path: Path) -> None:
    for number in range(6):
        root = repository(tmp_path / "repos", f"r{number}")
        plain(root)
        commit(root)
    words = ["fleet", "collect", "repos", "--lake", "lake", "--cache", "cache", "--jobs", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "orbit_registry", *words], cwd=tmp_path, start_new_session=True
    )
    ticks = threading.Event()
    for _ in range(6000):
        if list(tmp_path.glob("lake/repositories/*r*/*")) or ticks.wait(0.02):
            break
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    data = collect(tmp_path, "repos", "--lake", "lake")
    assert data["failed"] == 0
    rows = ask(tmp_path / "lake", "SELECT repository, count(*) AS n FROM records GROUP BY ALL")
    assert sorted((row["repository"], row["n"]) for row in rows) == [
        (f"r{number}", 2) for number in range(6)
    ]


def test_two_collections_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    for number in range(4):
        root = repository(tmp_path / "repos", f"r{number}")
        plain(root)
        commit(root)
    words = ["fleet", "collect", "repos", "--lake", "lake", "--jobs", "2", "--cache"]
    processes = [
        subprocess.Popen([sys.executable, "-m", "orbit_registry", *words, f"c{each}"], cwd=tmp_path)
        for each in range(2)
    ]
    assert [process.wait() for process in processes] == [0, 0]
    rows = ask(tmp_path / "lake", "SELECT repository, count(*) AS n FROM records GROUP BY ALL")
    assert sorted((row["repository"], row["n"]) for row in rows) == [
        (f"r{number}", 2) for number in range(4)
    ]


ADDRESSES = {
    "/nowhere/shop": "'/nowhere/shop' does not appear to be a git repository",
    "https://u:secret@127.0.0.1:1/acme/shop": "Failed to connect to 127.0.0.1 port 1",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_leads_nowhere_says_why_and_what_to_do(
    tmp_path: Path, address: str
) -> None:
    (tmp_path / "list.txt").write_text(f"{address}\n", "utf-8")
    text = orbit(tmp_path, "fleet", "collect", "list.txt", "--lake", "lake", code=1)
    assert ADDRESSES[address] in text
    assert "git ls-remote ADDRESS" in text
    assert "secret" not in text


NAMES = dict.fromkeys(("ADR-0001", "adr-1", "1", "0001-x"), "Use plain")
"""Names of one record, and its title."""


@pytest.mark.parametrize("name", NAMES)
def test_a_record_is_shown_by_each_of_its_names(organisation: Path, name: str) -> None:
    words = ("fleet", "show", name, "--repository", "plain", "--lake", "lake")
    assert NAMES[name] in orbit(organisation, *words)


def test_a_name_of_two_records_shows_none(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    for folder in ("api", "web"):
        write(root, f"{folder}/docs/adr/0001-x.md", decision(f"1. Use {folder}"))
    commit(root)
    collect(tmp_path, "repos", "--lake", "lake")
    words = ("fleet", "show", "0001-x", "--repository", "one", "--lake", "lake")
    assert "means 2 records" in orbit(tmp_path, *words, code=1)
    words = ("fleet", "show", "ADR-0009", "--repository", "one", "--lake", "lake")
    assert "one has no record 'ADR-0009'" in orbit(tmp_path, *words, code=1)


ENTRIES = {
    "--upload-pack=x": "no address",
    "ext::sh -c x": "no address",
    "": "no address",
    "a\nb": "no address",
    "https://u:secret@forge.example/../..": "no name",
}


@pytest.mark.parametrize("address", ENTRIES)
def test_an_entry_that_is_no_repository_is_named(tmp_path: Path, address: str) -> None:
    entries = [{"address": address}, {"address": "https://forge.example/acme/shop"}]
    write(tmp_path, "list.json", json.dumps(entries))
    read = sources_in([str(tmp_path / "list.json")])
    assert [source.name for source in read.repositories] == ["acme/shop"]
    assert ENTRIES[address] in read.problems[0].message
    assert "secret" not in read.problems[0].message


def test_a_folder_whose_name_is_no_text_is_a_problem_of_its_entry(tmp_path: Path) -> None:
    for name in (os.fsdecode(b"no \xff text"), "two\nlines", "plain"):
        root = tmp_path / "repos" / name
        root.mkdir(parents=True)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        decide(root, 1, "Use Redis")
        commit(root)

    data = collect(tmp_path, "repos", "--lake", "lake", code=1)
    assert [each["repository"] for each in data["repositories"]] == ["plain"]
    assert len(data["problems"]) == 2


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"address": "https://f.example/a", "brunch": "x"}, "'brunch' is no key"),
        ({"address": 7}, "address is no text"),
        ({"address": "https://f.example/a", "branch": "-x"}, "is no branch"),
        ({"address": "https://f.example/a", "folder": "../x"}, "is no folder"),
        ({"address": "https://f.example/a", "name": "../x"}, "is no name"),
        (None, "no address"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, entry: object, message: str) -> None:
    write(tmp_path, "list.json", json.dumps([entry]))
    read = sources_in([str(tmp_path / "list.json")])
    assert read.repositories == []
    assert isinstance(read.problems[0], Problem)
    assert message in read.problems[0].message


def test_two_addresses_with_one_name_are_a_problem(tmp_path: Path) -> None:
    write(tmp_path, "list.txt", "https://a.example/acme/shop\nhttps://b.example/acme/shop\n")
    read = sources_in([str(tmp_path / "list.txt")])
    assert (len(read.repositories), len(read.problems)) == (1, 1)
    assert "give one a `name`" in read.problems[0].message


class Pages(BaseHTTPRequestHandler):
    """A forge on this machine: two pages of repositories, and the tokens that came."""

    entries: ClassVar[list[dict[str, Any]]] = []
    tokens: ClassVar[list[str]] = []
    answer: Callable[["Pages"], None] | None = None

    def do_GET(self) -> None:
        header = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or ""
        self.tokens.append(header)
        if type(self).answer is not None:
            type(self).answer(self)
            return
        if "nobody" in self.path or "/orgs/ada/" in self.path:
            self.reply(404, b"{}")
            return
        page = 2 if "page=2" in self.path.split("per_page")[-1] else 1
        following = {} if page == 2 else {"Link": f'<{self.path}&page=2>; rel="next"'}
        self.reply(200, json.dumps(self.entries[page - 1 :: 2]).encode(), following)

    def reply(self, code: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def forge() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Pages.entries, Pages.tokens, Pages.answer = [], [], None
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def listed(forge_name: str, name: str, address: str, number: int, **more: bool) -> dict[str, Any]:
    """Return a repository as a forge lists it."""
    if forge_name == "gitlab":
        parent = {"id": 1} if more.get("fork") else None
        return {
            "id": number,
            "path_with_namespace": name,
            "http_url_to_repo": address,
            "default_branch": None,
            "archived": more.get("archived", False),
            "forked_from_project": parent,
        }
    return {"id": number, "full_name": name, "clone_url": address, "archived": False, **more}


@pytest.mark.parametrize("name", FORGES)
def test_an_account_of_a_forge_is_listed_page_by_page(
    forge: str, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FORGES[name].variable, "t0ken")
    Pages.entries = [
        listed(name, f"acme/r{number}", f"https://x.example/r{number}", number, fork=number == 2)
        for number in range(5)
    ]
    read = sources_in([f"{name}:acme"], apis={name: forge})
    sources = read.repositories
    assert read.problems == []
    assert sorted(source.name for source in sources) == [f"acme/r{number}" for number in range(5)]
    assert [source.name for source in sources if source.is_fork] == ["acme/r2"]
    assert {source.forge_id for source in sources} == {"0", "1", "2", "3", "4"}
    assert set(Pages.tokens) == {FORGES[name].header.partition(": ")[2].format("t0ken")}


def test_an_account_may_be_a_person_and_may_be_missing(forge: str, tmp_path: Path) -> None:
    Pages.entries = [listed("github", "ada/r0", "https://x.example/r0", 0)]
    read = sources_in(["github:ada"], apis={"github": forge})
    assert [each.name for each in read.repositories] == ["ada/r0"]
    words = ("fleet", "collect", "github:nobody", "--lake", "lake", "--api", forge)
    assert "has no account 'nobody'" in orbit(tmp_path, *words, code=2)


FAULTS: Mapping[str, tuple[Callable[[Pages], None], str]] = {
    "forbidden": (lambda page: page.reply(403, b"no"), "answers 403"),
    "redirect": (lambda page: page.reply(302, b"", {"Location": "http://127.0.0.1:9/"}), "302"),
    "no JSON": (lambda page: page.reply(200, b"<html>"), "no JSON"),
    "deep": (lambda page: page.reply(200, b"[" * 200_000), "no JSON"),
    "no list": (lambda page: page.reply(200, b"{}"), "no list"),
    "other form": (lambda page: page.reply(200, b"[1]"), "another form"),
    "other host": (
        lambda page: page.reply(200, b"[]", {"Link": '<http://evil.example/>; rel="next"'}),
        "another host",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_forge_that_answers_otherwise_is_one_line(forge: str, tmp_path: Path, fault: str) -> None:
    Pages.answer, message = FAULTS[fault]
    text = orbit(
        tmp_path, "fleet", "collect", "github:acme", "--lake", "lake", "--api", forge, code=1
    )
    assert message in text
    assert "Traceback" not in text


def test_a_token_goes_to_the_forge_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "t0ken")
    addresses = (
        "https://github.com/acme/shop",
        "https://evil.example/x",
        "https://github.com.evil/x",
    )
    sources = [Source(address, f"r{number}") for number, address in enumerate(addresses)]
    settings = token_settings(sources, FORGES["github"], "")
    assert [value for key, value in settings.items() if key.startswith("GIT_CONFIG_KEY")] == [
        "http.https://github.com/.extraHeader"
    ]
    assert token_settings(sources[1:], FORGES["github"], "") == {}


@pytest.mark.parametrize(
    ("api", "address", "is_trusted"),
    [
        ("https://git.corp.example/api/v3", "https://git.corp.example/acme/shop", True),
        ("https://api.corp.example", "https://corp.example/acme/shop", True),
        ("https://git.corp.example/api/v3", "https://corp.example/acme/shop", False),
        ("https://api.corp.example", "https://example/acme/shop", False),
        ("https://api.corp.example", "https://git.corp.example/acme/shop", False),
    ],
)
def test_a_token_goes_to_no_domain_above_the_forge(
    monkeypatch: pytest.MonkeyPatch, api: str, address: str, is_trusted: bool
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "t0ken")
    assert bool(token_settings([Source(address, "r")], FORGES["github"], api)) == is_trusted


ADDRESS = "https://git.example/api/v4"


@pytest.mark.parametrize(
    ("accounts", "addresses", "apis"),
    [
        (["gitlab:acme"], [ADDRESS], {"gitlab": ADDRESS}),
        (["gitlab:acme", "gitlab:bank", "list.txt"], [ADDRESS], {"gitlab": ADDRESS}),
        (["github:acme", "gitlab:acme"], [f"gitlab={ADDRESS}"], {"gitlab": ADDRESS}),
        (["gitea:acme"], [f"{ADDRESS}?a=b"], {"gitea": f"{ADDRESS}?a=b"}),
        (["github:acme"], [], {}),
    ],
)
def test_an_address_of_an_api_is_for_one_forge(
    accounts: list[str], addresses: list[str], apis: dict[str, str]
) -> None:
    assert apis_of(accounts, addresses) == apis


def test_an_address_for_two_forges_is_refused(tmp_path: Path) -> None:
    words = ("github:acme", "gitlab:acme", "--api", ADDRESS, "--lake", "lake")
    text = orbit(tmp_path, "fleet", "collect", *words, code=2)
    assert "the sources name github and gitlab" in text


def test_ssh_asks_for_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ssh = tmp_path / "bin/ssh"
    write(tmp_path, "bin/ssh", f'#!/bin/sh\necho "$@" >> {tmp_path}/words\nexit 1\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    write(tmp_path, "list.txt", "ssh://git@forge.example/acme/shop\n")
    collect(tmp_path, "list.txt", "--lake", "lake", code=1)
    assert "BatchMode=yes" in (tmp_path / "words").read_text("utf-8")


def test_documents_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "shop")
    plain(root)
    decision = "Status: Accepted\n\n## Decision\n\nWe do.\n"
    (root / "docs/adr/0003-x.md").write_bytes(f"# 3. Größe\n\n{decision}".encode("latin-1"))
    (root / "docs/adr/0004-x.md").write_text(f"# 4. Long\n\n{decision}{'a ' * 3_000_000}", "utf-8")
    (root / "NOTES.md").write_bytes("# Größe\n".encode("latin-1"))
    commit(root)
    for _ in range(2):  # as read, and as unchanged
        (shop,) = collect(tmp_path, "repos", "--lake", "lake")["repositories"]
        assert shop["records"] == 2
        assert shop["left_out"].startswith("docs/adr/0003-x.md: 1:8: not valid UTF-8")
        assert shop["left_out"].endswith("; and 1 other")

    text = orbit(tmp_path, "fleet", "report", "members", "--lake", "lake", "--format", "json")
    assert json.loads(text)["data"][0]["rows"][0]["state"] == "documents left out"


@pytest.mark.parametrize("table", ["records", "repositories"])
def test_the_next_collection_mends_a_damaged_file(tmp_path: Path, table: str) -> None:
    for name in ("one", "two"):
        root = repository(tmp_path / "repos", name)
        plain(root)
        commit(root)

    collect(tmp_path, "repos", "--lake", "lake")
    (file,) = tmp_path.glob(f"lake/{table}/*one/*.parquet")
    file.write_bytes(file.read_bytes()[:100])
    orbit(tmp_path, "fleet", "query", STATE, "--lake", "lake", code=1)
    collect(tmp_path, "repos", "--lake", "lake")
    assert len(ask(tmp_path / "lake", STATE)) == 4


@pytest.mark.parametrize(
    ("key", "part"),
    [("forge: gitlab", "/acme/one/-/blob/"), ("forge: gitea", "/acme/one/src/commit/"), ("", None)],
)
def test_a_forge_that_its_host_does_not_tell_has_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, part: str | None
) -> None:
    root = repository(tmp_path, "one")
    decide(root, 1, "Use one")
    commit(root)
    address = "https://corp.example/acme/one"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{root}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", address)
    write(tmp_path, "list.yaml", f"- address: {address}\n  {key}\n")
    collect(tmp_path, "list.yaml", "--lake", "lake")
    (url,) = (row["url"] for row in ask(tmp_path / "lake", "SELECT url FROM records"))
    assert (url is None) if part is None else part in url


@pytest.mark.parametrize(
    ("folders", "copies"),
    [
        (("", "docs/adr"), {"two": "one"}),
        (("docs/adr", ""), {"two": "one"}),
        (("docs/adr", "docs/adr"), {"two": "one"}),
        (("docs/adr", "docs/rfc"), {}),
    ],
)
def test_a_fork_is_told_where_one_has_a_folder(
    tmp_path: Path, folders: tuple[str, str], copies: dict[str, str]
) -> None:
    root = repository(tmp_path, "one")
    plain(root)
    (root / "docs/rfc").mkdir()
    (root / "docs/rfc/0001-x.md").write_bytes((root / "docs/adr/0001-x.md").read_bytes())
    commit(root)
    subprocess.run(["git", "clone", "-q", root, tmp_path / "two"], check=True)
    for name, folder in zip(("one", "two"), folders, strict=True):
        entry = {"address": name, "name": name, "folder": folder}
        write(tmp_path, "list.json", json.dumps([entry]))
        collect(tmp_path, "list.json", "--lake", "lake")

    rows = ask(tmp_path / "lake", "SELECT repository, copy_of FROM repositories WHERE is_copy")
    assert {row["repository"]: row["copy_of"] for row in rows} == copies


def test_git_sends_a_token_once_for_two_accounts(
    forge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "t0ken")
    Pages.entries = [listed("github", "acme/shop", f"{forge}/acme/shop.git", 1)]
    counts = []

    def count(page: Pages) -> None:
        if "info/refs" not in page.path:
            page.reply(200, json.dumps(Pages.entries).encode())
            return

        counts.append(len(page.headers.get_all("Authorization", [])))
        page.reply(404, b"")

    Pages.answer = count
    accounts = ("github:acme", "github:ada")
    collect(tmp_path, *accounts, "--api", forge, "--lake", "lake", code=1)
    assert set(counts) == {1}


def test_a_renamed_repository_is_one(forge: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    words = ("github:acme", "--lake", "lake", "--api", forge)
    for name in ("acme/one", "acme/uno"):
        Pages.entries = [listed("github", name, str(root), 7)]
        data = collect(tmp_path, *words)
    assert data["repositories"][0]["renamed_from"] == "acme/one"
    assert {row["repository"] for row in ask(tmp_path / "lake", STATE)} == {"acme/uno"}


UNNUMBERED = ("Keep files", "Keep lists")
MOVES: Mapping[str, tuple[Callable[[Path], None], dict[str, str]]] = {
    "one between others": (
        lambda folder: write(folder, "Keep it.md", decision("Keep it")),
        {"ADR-0001": "Keep files", "ADR-0002": "Keep lists", "ADR-0003": "Keep it"},
    ),
    "the first removed, one added": (
        lambda folder: (folder / "Keep files.md").rename(folder / "Aim high.md"),
        {"ADR-0002": "Keep lists", "ADR-0003": "Keep files"},
    ),
    "another title": (
        lambda folder: write(folder, "Keep files.md", decision("Keep all files")),
        {"ADR-0001": "Keep all files", "ADR-0002": "Keep lists"},
    ),
    "one that states a number which is taken": (
        lambda folder: write(folder, "0002-a.md", decision("2. Keep it")),
        {"ADR-0001": "Keep files", "ADR-0002": "Keep lists", "ADR-0003": "Keep it"},
    ),
    "one that states a free number": (
        lambda folder: write(folder, "0007-a.md", decision("7. Keep it")),
        {"ADR-0001": "Keep files", "ADR-0002": "Keep lists", "ADR-0007": "Keep it"},
    ),
}
"""What happens to a folder of documents without numbers, and the numbers that they have then."""


def decision(title: str) -> str:
    return f"# {title}\n\nStatus: Accepted\n\n## Decision\n\nWe do.\n"


@pytest.mark.parametrize("move", MOVES)
def test_a_document_keeps_its_number_whatever_comes_before_it(tmp_path: Path, move: str) -> None:
    change, expected = MOVES[move]
    root = repository(tmp_path / "repos", "one")
    for title in UNNUMBERED:
        write(root, f"docs/adr/{title}.md", decision(title))
    commit(root)
    collect(tmp_path, "repos", "--lake", "lake")

    change(root / "docs/adr")
    commit(root)
    collect(tmp_path, "repos", "--lake", "lake", "--force")
    rows = ask(tmp_path / "lake", "SELECT id, title FROM records")
    assert {row["id"]: row["title"] for row in rows} == expected


def test_a_checkout_has_the_name_of_its_remote(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    subprocess.run([*REMOTE, "git@github.com:acme/one.git"], cwd=root, check=True)
    collect(tmp_path, "repos", "--lake", "lake")
    (row,) = ask(tmp_path / "lake", "SELECT repository, url FROM records WHERE id = 'ADR-0001'")
    assert row["repository"] == "acme/one"
    assert row["url"].startswith("https://github.com/acme/one/blob/")
    assert row["url"].endswith("/docs/adr/0001-x.md")


def test_words_and_ids_are_found_over_all_repositories(organisation: Path) -> None:
    def found(*words: str) -> list[tuple[str, str]]:
        text = orbit(organisation, "fleet", "search", *words, "--lake", "lake", "--format", "json")
        return [(row["repository"], row["id"]) for row in json.loads(text)["data"]]

    assert found("NATS") == [("orbit", "ADR-0001")]
    assert len(found("redis")) == 3
    assert found("zebra") == []
    assert ("orbit", "ADR-0001") in found("adr-0001")
    assert "has no word" in orbit(organisation, "fleet", "search", "…", "--lake", "lake", code=2)


def test_a_repository_that_was_away_is_well_again_without_a_new_commit(tmp_path: Path) -> None:
    for name in ("one", "two"):
        root = repository(tmp_path / "repos", name)
        plain(root)
        commit(root)
    write(tmp_path, "list.txt", "".join(f"{tmp_path}/repos/{name}\n" for name in ("one", "two")))
    errors = "SELECT count(*) AS n FROM repositories WHERE error <> ''"
    collect(tmp_path, "list.txt", "--lake", "lake")
    (tmp_path / "repos/one").rename(tmp_path / "away")
    data = collect(tmp_path, "list.txt", "--lake", "lake", code=1)
    assert [each["outcome"] for each in data["repositories"]] == ["failed", "unchanged"]
    assert ask(tmp_path / "lake", errors) == [{"n": 1}]
    (tmp_path / "away").rename(tmp_path / "repos/one")
    collect(tmp_path, "list.txt", "--lake", "lake")
    assert ask(tmp_path / "lake", errors) == [{"n": 0}]
    assert len(ask(tmp_path / "lake", STATE)) == 4


def test_of_a_fork_and_its_original_the_original_counts(forge: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    subprocess.run(["git", "clone", "-q", root, tmp_path / "repos/fork"], check=True)
    pairs = (("acme/a-fork", "repos/fork", True), ("acme/original", "repos/one", False))
    for number, (name, path, is_fork) in enumerate(pairs):
        entry = listed("github", name, str(tmp_path / path), number, fork=is_fork)
        Pages.entries = [*Pages.entries, entry]
        collect(tmp_path, "github:acme", "--lake", "lake", "--api", forge)
    rows = ask(tmp_path / "lake", "SELECT repository, is_copy FROM repositories ORDER BY ALL")
    assert rows == [
        {"repository": "acme/a-fork", "is_copy": True},
        {"repository": "acme/original", "is_copy": False},
    ]


def test_two_projects_of_one_repository_are_no_copies(tmp_path: Path) -> None:
    root = repository(tmp_path, "mono")
    for name in ("shop", "bank"):
        (root / name).mkdir()
        with_orbit(root / name)
    commit(root)
    for name in ("shop", "bank"):
        orbit(root / name, "fleet", "push", str(tmp_path / "lake"), "--repository", f"acme/{name}")
    rows = ask(tmp_path / "lake", "SELECT repository FROM records WHERE NOT is_copy ORDER BY ALL")
    assert [row["repository"] for row in rows] == ["acme/bank", "acme/shop"]


FORMS = {"policies": "Keep one policy", "Bückers": "Ask Bücker", "UserCache": "Cache users"}
"""Words of a question in another form than a title has them, and that title."""


@pytest.mark.parametrize("word", FORMS)
def test_words_are_folded_as_the_search_of_one_repository_folds_them(
    tmp_path: Path, word: str
) -> None:
    root = repository(tmp_path / "repos", "one")
    for number, title in enumerate(FORMS.values(), 1):
        decide(root, number, title)
    commit(root)
    collect(tmp_path, "repos", "--lake", "lake")
    words = ("fleet", "search", word, "--lake", "lake", "--format", "json")
    assert [row["title"] for row in json.loads(orbit(tmp_path, *words))["data"]] == [FORMS[word]]


def test_who_has_all_words_comes_before_who_has_one_in_the_title(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    decide(root, 1, "Keep alpha")
    text = "# 2. Choose a store\n\nStatus: Accepted\n\n## Context\n\nWe have alpha, and beta.\n"
    write(root, "docs/adr/0002-x.md", f"{text}\n## Decision\n\nWe choose a folder for all files.\n")
    commit(root)
    collect(tmp_path, "repos", "--lake", "lake")
    words = ("fleet", "search", "alpha", "beta", "--lake", "lake", "--format", "json")
    rows = json.loads(orbit(tmp_path, *words))["data"]
    assert [row["id"] for row in rows] == ["ADR-0002", "ADR-0001"]


def test_the_author_of_a_document_is_who_decided_and_not_who_collects(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    head = "---\nstatus: accepted\ndeciders: [Ada, Bob]\n---\n"
    write(root, "docs/adr/0001-x.md", f"{head}# 1. Keep files\n\n## Decision\n\nWe do.\n")
    write(
        root, "docs/adr/0002-x.md", "# 2. Keep lists\n\nStatus: Accepted\n\n## Decision\n\nYes.\n"
    )
    commit(root)
    collect(tmp_path, "repos", "--lake", "lake")
    rows = ask(tmp_path / "lake", "SELECT author FROM records ORDER BY id")
    assert [row["author"] for row in rows] == ["Ada, Bob", None]


def test_a_document_keeps_its_number_in_each_collection(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    for title in ("Keep files", "Keep lists"):
        write(root, f"docs/adr/{title}.md", f"# {title}\n\nStatus: Accepted\n\nWe do.\n")
    commit(root)
    ids = "SELECT id, title FROM records ORDER BY ALL"
    collect(tmp_path, "repos", "--lake", "lake", "--dry-run")
    collect(tmp_path, "repos", "--lake", "lake")
    first = ask(tmp_path / "lake", ids)
    collect(tmp_path, "repos", "--lake", "lake", "--force")
    assert ask(tmp_path / "lake", ids) == first
    assert [row["id"] for row in first] == ["ADR-0001", "ADR-0002"]
