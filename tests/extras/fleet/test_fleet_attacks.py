"""What repositories, forges and machines do to a collection: histories that change, names that
move, caches and lakes that are damaged, secrets in addresses.
"""

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.acceptance.browsing import served as files_served
from tests.acceptance.conftest import orbit
from tests.extras.fleet.conftest import ask
from tests.extras.fleet.test_fleet_collect import (
    STATE,
    Pages,
    collect,
    commit,
    decide,
    decision,
    forge,
    listed,
    plain,
    repository,
)
from tests.files import write

from orbit_fleet.collect import collect as collect_into
from orbit_fleet.lake import Lake
from orbit_fleet.sources import Sources, sources_in

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
__all__ = ["forge"]
PASSWORD = "hk39Xq" + "71vZ"
LIMITED = """
import resource, sys
from orbit_registry.doors.cli.main import run
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
sys.exit(run(sys.argv[2:]))
"""


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


def titles(folder: Path) -> list[str]:
    """Return the titles of all records in the lake of a folder."""
    return [row["title"] for row in ask(folder / "lake", STATE)]


def branch_away(root: Path) -> None:
    git(root, "checkout", "-qb", "next/2.x")
    decide(root, 3, "Use Kafka")
    commit(root)


def write_anew(root: Path) -> None:
    """Take the newest commit back, as a push by force does."""
    git(root, "reset", "-q", "--hard", "HEAD~1")
    decide(root, 2, "Use Kafka")
    git(root, "add", "-A")
    day = "2020-01-01T00:00:00Z"
    words = ["-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-qm", "x"]
    subprocess.run(
        ["git", *words], cwd=root, check=True, env={"GIT_COMMITTER_DATE": day, "PATH": "/usr/bin"}
    )


def link_out(root: Path) -> None:
    (root / "docs/adr/0003-x.md").symlink_to("/etc/hostname")
    (root / "docs/more").symlink_to("/etc")
    (root / "adr").symlink_to("docs/adr")
    commit(root)


def link_folder(root: Path) -> None:
    """Make the folder of decisions a link to another folder of the repository."""
    (root / "docs/adr").rename(root / "choices")
    (root / "docs/adr").symlink_to("../choices")
    commit(root)


def add_submodule(root: Path) -> None:
    other = repository(root.parent.parent / "others", "other")
    plain(other)
    commit(other)
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "docs/sub")
    commit(root)


def add_pointer(root: Path) -> None:
    """Add a document that is a pointer of Git LFS, whose filter would need a program."""
    write(root, ".gitattributes", "docs/adr/0003* filter=lfs diff=lfs merge=lfs -text\n")
    oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 12345\n"
    write(root, "docs/adr/0003-x.md", text)
    commit(root)


def add_cases(root: Path) -> None:
    write(root, "docs/adr/0001-X.md", "# 1. Use Kafka\n\nStatus: Accepted\n\nWe do.\n")
    commit(root)


def add_huge(root: Path) -> None:
    write(root, "docs/adr/0003-x.md", "# 3. Use Kafka\n\n" + "word " * 4_000_000)
    write(root, "data.txt", "0 " * 10_000_000)
    commit(root)


def add_odd_names(root: Path) -> None:
    for name in ("a\nb", "a\tb", "a'b", 'a"b', "a\\b", "*", "ä"):
        write(root, f"notes/{name}.md", "# x\n")
    (root / "notes/\udcff.md").write_text("# x\n", "utf-8")
    commit(root)


CHANGES: Mapping[str, tuple[Callable[[Path], None], list[str]]] = {
    "another default branch": (branch_away, ["Use one", "Use Redis", "Use Kafka"]),
    "a history that was written anew": (write_anew, ["Use Kafka"]),
    "links that lead out": (link_out, ["Use one", "Use Redis"]),
    "a folder that is a link": (link_folder, ["Use one", "Use Redis"]),
    "a submodule": (add_submodule, ["Use one", "Use Redis"]),
    "a pointer of Git LFS": (add_pointer, ["Use one", "Use Redis"]),
    "names that differ in case": (add_cases, ["Use Kafka", "Use one", "Use Redis"]),
    "huge files": (add_huge, ["Use one", "Use Redis"]),
    "odd names": (add_odd_names, ["Use one", "Use Redis"]),
}
"""What happens to a repository after its first collection, and which titles the lake has then."""


@pytest.mark.parametrize("change", CHANGES)
def test_the_lake_follows_a_repository_whatever_happens_to_it(tmp_path: Path, change: str) -> None:
    apply, expected = CHANGES[change]
    root = repository(tmp_path / "repos", "one")
    commit(root)
    plain(root)
    commit(root)
    address = f"file://{root}"
    write(tmp_path, "list.json", json.dumps([{"address": address, "name": "one"}]))
    collect(tmp_path, "list.json", "--lake", "lake")

    apply(root)
    data = collect(tmp_path, "list.json", "--lake", "lake")
    assert data["repositories"][0]["outcome"] in ("written", "unchanged")
    assert sorted(titles(tmp_path)) == sorted(expected)
    assert collect(tmp_path, "list.json", "--lake", "lake")["unchanged"] == 1


def test_a_repository_that_lost_its_commits_keeps_its_records(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    collect(tmp_path, "repos", "--lake", "lake")
    git(root, "symbolic-ref", "HEAD", "refs/heads/nothing")
    data = collect(tmp_path, "repos", "--lake", "lake", code=1)
    assert "default branch is not there" in data["repositories"][0]["error"]
    branch = "refs/heads/main"
    for name in ("main", "master"):
        git(root, "update-ref", "-d", branch.replace("main", name))
    data = collect(tmp_path, "repos", "--lake", "lake", code=1)
    assert "no commit" in data["repositories"][0]["error"]
    assert len(titles(tmp_path)) == 2


def test_two_folders_of_one_repository_are_no_copies(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    for folder in ("api", "web"):
        write(root, f"{folder}/notes/x.md", decision(f"Use {folder}"))
    commit(root)
    entries = [
        {"address": str(root), "name": f"one/{folder}", "folder": f"{folder}/notes"}
        for folder in ("api", "web")
    ]
    write(tmp_path, "list.json", json.dumps(entries))
    collect(tmp_path, "list.json", "--lake", "lake", "--jobs", "2")
    rows = ask(tmp_path / "lake", "SELECT title FROM records WHERE NOT is_copy ORDER BY ALL")
    assert [row["title"] for row in rows] == ["Use api", "Use web"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    commit(root)
    entry = {"address": str(root), "name": "one", "folder": "notes"}
    write(tmp_path, "list.json", json.dumps([entry]))
    data = collect(tmp_path, "list.json", "--lake", "lake", code=1)
    assert "no folder 'notes'" in data["repositories"][0]["error"]


def stale_lock(cache: Path) -> None:
    (cache / ".git/index.lock").touch()


def lost_objects(cache: Path) -> None:
    for file in (cache / ".git/objects").rglob("*"):
        if file.is_file():
            file.unlink()


def half_made(cache: Path) -> None:
    (cache / ".git/HEAD").unlink()


@pytest.mark.parametrize("damage", [stale_lock, lost_objects, half_made])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    collect(tmp_path, "repos", "--lake", "lake")
    (cache,) = (file.parent for file in tmp_path.glob("cache/*/.git"))
    damage(cache)
    decide(root, 3, "Use Kafka")
    commit(root)
    assert collect(tmp_path, "repos", "--lake", "lake")["written"] == 1
    assert len(titles(tmp_path)) == 3


class Backend(BaseHTTPRequestHandler):
    """A forge that wants a user and a password, and sends files only if they are asked for."""

    root = Path()

    def do_POST(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        if "Basic" not in (self.headers.get("Authorization") or ""):
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Basic realm=x")
            self.end_headers()
            return

        path, _, query = self.path.partition("?")
        variables = {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
        }
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        done = subprocess.run(
            ["git", "http-backend"],
            env={**os.environ, **variables},
            input=body,
            capture_output=True,
            check=False,
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        self.send_response(404 if b"Status: 404" in head else 200)
        for line in head.decode().splitlines():
            name, _, value = line.partition(": ")
            if name != "Status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """Serve a repository over HTTP; yield it and its address with a user and a password."""
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    git(root, "config", "uploadpack.allowFilter", "true")
    git(root, "config", "uploadpack.allowAnySHA1InWant", "true")
    Backend.root = tmp_path / "repos"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield root, f"http://ada:{PASSWORD}@127.0.0.1:{server.server_port}/one/.git"
    server.shutdown()
    server.server_close()


def test_a_password_of_an_address_stands_in_no_file(
    tmp_path: Path, served: tuple[Path, str]
) -> None:
    root, address = served
    entries = [{"address": address, "name": "one"}, {"address": f"{address}x", "name": "two"}]
    write(tmp_path, "lists/list.json", json.dumps(entries))
    for number in (3, 4):
        words = ("fleet", "collect", "lists/list.json", "--lake", "lake", "--cache", "cache")
        text = orbit(tmp_path, *words, code=1)
        assert "1 read" in text
        assert PASSWORD not in text
        decide(root, number, "Use Kafka")
        commit(root)

    for folder in ("lake", "cache"):
        for file in filter(Path.is_file, (tmp_path / folder).rglob("*")):
            assert PASSWORD.encode() not in file.read_bytes(), file


def test_a_server_of_plain_files_sends_all_at_once(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    git(tmp_path, "clone", "-q", "--bare", str(root), "served/one.git")
    git(tmp_path / "served/one.git", "update-server-info")

    with files_served(tmp_path / "served") as address:
        write(tmp_path, "list.json", json.dumps([{"address": f"{address}one.git", "name": "one"}]))
        words = ("fleet", "collect", "list.json", "--lake", "lake", "--cache", "cache")
        assert "1 read" in orbit(tmp_path, *words)

    assert titles(tmp_path)


def test_two_forges_may_give_one_number(tmp_path: Path) -> None:
    for name in ("one", "two"):
        root = repository(tmp_path / "repos", name)
        plain(root)
        commit(root)
        git(root, "config", "remote.origin.url", f"https://{name}.example/acme/{name}.git")

    lake = Lake(str(tmp_path / "lake"))
    for source in sources_in([str(tmp_path / "repos")]).repositories:
        numbered = Sources([replace(source, forge_id="7")])
        result = collect_into(lake, numbered, cache=tmp_path / "cache")
        assert [each.renamed_from for each in result.repositories] == [""]

    assert lake.names() == ["acme/one", "acme/two"]


def test_a_name_may_be_given_to_another_repository(forge: str, tmp_path: Path) -> None:
    for name in ("old", "new"):
        root = repository(tmp_path / "repos", name)
        plain(root)
        commit(root)
    old, new = (str(tmp_path / "repos" / name) for name in ("old", "new"))
    words = ("github:acme", "--lake", "lake", "--api", forge)
    Pages.entries = [listed("github", "acme/shop", old, 1)]
    collect(tmp_path, *words)
    Pages.entries = [listed("github", "acme/store", old, 1), listed("github", "acme/shop", new, 2)]
    collect(tmp_path, *words)
    rows = {(row["repository"], row["title"]) for row in ask(tmp_path / "lake", STATE)}
    assert {("acme/store", "Use old"), ("acme/shop", "Use new")} <= rows
    assert collect(tmp_path, *words)["unchanged"] == 2


def test_a_renaming_that_was_killed_is_finished(forge: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    words = ("github:acme", "--lake", "lake", "--api", forge)
    Pages.entries = [listed("github", "acme/one", str(root), 7)]
    collect(tmp_path, *words)
    for table in ("records", "repositories"):
        rows = tmp_path / "lake" / table
        copy = rows / "repository=acme%2Funo"
        copy.mkdir()
        for file in (rows / "repository=acme%2Fone").iterdir():
            (copy / file.name).write_bytes(file.read_bytes())

    Pages.entries = [listed("github", "acme/uno", str(root), 7)]
    collect(tmp_path, *words)
    assert {row["repository"] for row in ask(tmp_path / "lake", STATE)} == {"acme/uno"}


def test_an_empty_repository_of_a_forge_is_no_failure(forge: str, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "bare"], check=True)
    entry = {**listed("github", "acme/empty", str(tmp_path / "bare"), 1), "default_branch": "main"}
    Pages.entries = [entry]
    data = collect(tmp_path, "github:acme", "--lake", "lake", "--api", forge)
    assert data["empty"] == 1
    assert collect(tmp_path, "github:acme", "--lake", "lake", "--api", forge)["failed"] == 0


def test_a_forge_that_fails_stops_no_other_source(forge: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    Pages.entries = [listed("github", "acme/two", str(root), 1)]
    words = ("github:acme", "repos", "--lake", "lake", "--api", forge)
    collect(tmp_path, *words)
    Pages.answer = lambda page: page.reply(502, b"")
    data = collect(tmp_path, *words, code=1)
    assert "answers 502" in data["problems"][0]["message"]
    assert "try again later" in data["problems"][0]["message"]
    assert data["missing"] == []
    assert [each["repository"] for each in data["repositories"]] == ["one"]


REFUSALS: Mapping[str, tuple[int, dict[str, str], str]] = {
    "token": (401, {}, "must hold a token"),
    "limit": (403, {"X-RateLimit-Remaining": "0"}, "answers nothing for now"),
    "too many": (429, {"Retry-After": "60"}, "answers nothing for now"),
    "moved": (301, {"Location": "http://u:secret@new.example/"}, "it leads to http://new.example/"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_says_what_to_do(forge: str, tmp_path: Path, refusal: str) -> None:
    code, headers, advice = REFUSALS[refusal]
    Pages.answer = lambda page: page.reply(code, b"", headers)
    data = collect(tmp_path, "github:acme", "--lake", "lake", "--api", forge, code=1)
    message = data["problems"][0]["message"]
    assert f"answers {code}" in message
    assert advice in message


@pytest.mark.parametrize("token", [f"{PASSWORD}\nx", f"{PASSWORD}→"])
def test_a_token_with_odd_characters_is_not_printed(
    forge: str, tmp_path: Path, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", token)
    words = ("fleet", "collect", "github:acme", "--lake", "lake", "--api", forge)
    text = orbit(tmp_path, *words, code=2)
    assert "GITHUB_TOKEN has a character" in text
    assert PASSWORD not in text


@pytest.mark.parametrize("api", ["http://[::1:9", "x", "ftp://f.example", "http://"])
def test_an_api_without_a_host_is_refused(tmp_path: Path, api: str) -> None:
    words = ("fleet", "collect", "github:acme", "--lake", "lake", "--api", api)
    assert "needs the address of its API" in orbit(tmp_path, *words, code=2)


def test_a_lake_that_cannot_be_written_stops_the_collection(tmp_path: Path) -> None:
    for number in range(5):
        root = repository(tmp_path / "repos", f"r{number}")
        plain(root)
        commit(root)
    collect(tmp_path, "repos", "--lake", "other")
    Lake(str(tmp_path / "lake")).make()
    (tmp_path / "lake/repositories/repository=r0").touch()
    text = orbit(tmp_path, "fleet", "collect", "repos", "--lake", "lake", "--jobs", "1", code=1)
    assert "a file is where a folder is needed" in text
    assert "Traceback" not in text


@pytest.mark.parametrize("size", [500, 4_000, 8_000, 12_000, 16_000])
def test_a_full_disk_is_said_and_the_next_run_reads_all(tmp_path: Path, size: int) -> None:
    """No file may have more than some bytes, as where a disk is full."""
    root = repository(tmp_path / "repos", "one")
    chance = random.Random(7)
    for number in range(1, 60):
        words = " ".join(f"{chance.getrandbits(64):x}" for _ in range(20))
        text = f"# {number}. Use tool {number}\n\nStatus: Accepted\n\nWe take {words}.\n"
        write(root, f"docs/adr/{number:04d}-x.md", text)
    commit(root)
    command = [sys.executable, "-c", LIMITED, str(size), "fleet", "collect", "repos"]
    done = subprocess.run(
        [*command, "--lake", "lake", "--cache", "cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    text = done.stdout + done.stderr
    assert done.returncode == 1, text
    assert "Traceback" not in text
    assert "report this as a bug" not in text
    assert collect(tmp_path, "repos", "--lake", "lake")["written"] == 1
    assert len(titles(tmp_path)) == 59


def test_a_newer_orbit_and_an_older_one_read_no_repository_in_turns(tmp_path: Path) -> None:
    root = repository(tmp_path / "repos", "one")
    plain(root)
    commit(root)
    collect(tmp_path, "repos", "--lake", "lake")
    lake = Lake(str(tmp_path / "lake"))
    row = lake.repository("one")
    assert row is not None
    lake.note(replace(row, orbit_version="999.0.0"))
    assert collect(tmp_path, "repos", "--lake", "lake")["unchanged"] == 1
    lake.note(replace(row, orbit_version="0.0.1"))
    collect(tmp_path, "repos", "--lake", "lake")
    after = lake.repository("one")
    assert after is not None
    assert after.orbit_version not in ("0.0.1", "999.0.0")
