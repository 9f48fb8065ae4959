"""A push of a repository into a lake: what is written, what stays here,
and what a second push adds.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from tests.acceptance.conftest import orbit
from tests.extras.fleet.conftest import MakeRepository, ask, push, vote
from tests.files import commit, write, write_learning

from orbit_fleet.names import source_repository
from orbit_fleet.rows import title_fields
from orbit_registry.workspace.config import Extension

pytest.importorskip("fsspec", reason="the fleet extra is not installed")
COUNTS = """
SELECT (SELECT count(*) FROM records) AS records, (SELECT count(*) FROM scopes) AS scopes,
    (SELECT count(*) FROM votes) AS votes, (SELECT count(*) FROM repositories) AS repositories
"""


def orbit_stderr(root: Path, *words: str) -> str:
    command = [sys.executable, "-m", "orbit_registry", *words]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stderr


def files(lake: Path) -> list[str]:
    return sorted(str(path.relative_to(lake)) for path in lake.rglob("*") if path.is_file())


def test_a_second_push_says_which_record_changed(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    first = push(shop, lake)
    assert (first["rows"], first["records_written"]) == ({"records": 2, "scopes": 3}, 2)
    vote(shop, "T-1")
    second = push(shop, lake)
    assert second["rows"] == {"records": 2, "scopes": 3, "votes": 1}
    assert second["records_written"] == 1
    assert ask(lake, COUNTS) == [{"records": 2, "scopes": 3, "votes": 1, "repositories": 1}]


def test_a_second_push_of_a_commit_writes_no_record(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    (file,) = lake.glob("records/*shop/*.parquet")
    before = file.stat().st_ino
    assert push(shop, lake)["outcome"] == "unchanged"
    assert file.stat().st_ino == before


@pytest.mark.parametrize(
    ("path", "outcome"),
    [
        ("src/new.py", "unchanged"),
        ("docs/adr/0001-x.md", "pushed"),
    ],
)
def test_a_commit_that_changes_no_record_writes_none(
    make_repository: MakeRepository, tmp_path: Path, path: str, outcome: str
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    file = shop / path
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as text:
        text.write("\nMore.\n" if file.suffix == ".md" else "")
    commit(shop)
    assert push(shop, lake)["outcome"] == outcome


def test_a_newer_commit_with_the_same_state_wins_over_one_between(
    make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    for day, title in ((1, "Between"), (2, "Use PostgreSQL")):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"2090-01-0{day}T00:00:00Z")
        record = shop / ".orbit/adrs/ADR-0001/adr.yaml"
        record.write_text(
            re.sub('title: "[^"]*"', f'title: "{title}"', record.read_text("utf-8")), "utf-8"
        )
        commit(shop)
    assert push(shop, lake)["outcome"] == "unchanged"
    subprocess.run(["git", "checkout", "-q", "HEAD~1"], cwd=shop, check=True)
    assert push(shop, lake)["outcome"] == "older"
    assert ask(lake, "SELECT title FROM records WHERE kind = 'adr'") == [
        {"title": "Use PostgreSQL"}
    ]


def test_a_record_that_is_gone_leaves_the_lake(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    shutil.rmtree(shop / ".orbit/learnings")
    commit(shop)
    assert push(shop, lake)["records_removed"] == 1
    assert ask(lake, "SELECT id FROM records") == [{"id": "ADR-0001"}]
    assert ask(lake, "FROM scopes WHERE axis = 'path'") == []


def test_what_readers_may_not_see_never_reaches_the_lake(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop = make_repository(
        "shop", "site:\n  publish:\n    tags: ['!private']\n    redact: ['hunter\\d+']\n"
    )
    lake = tmp_path / "lake"
    write_learning(shop, 2, summary="Withheld zebra", labels=["private"])
    write_learning(shop, 3, summary="The password is hunter42")
    write_learning(shop, 4, summary="Candidate giraffe", status="candidate")
    commit(shop)
    push(shop, lake)
    with duckdb.connect() as connection:
        texts = [
            str(connection.execute("FROM read_parquet(?)", [str(file)]).fetchall())
            for file in lake.rglob("*.parquet")
        ]
    texts += [file.read_text("utf-8") for file in lake.rglob("*.json")]
    assert not any(
        word in text
        for text in texts
        for word in ("zebra", "hunter42", "giraffe", "L-00002", "L-00004")
    )
    assert any("The password is" in text for text in texts)


def test_uncommitted_records_are_refused(make_repository: MakeRepository, tmp_path: Path) -> None:
    shop = make_repository("shop")
    write_learning(shop, 2)
    assert "uncommitted" in orbit(shop, "fleet", "push", str(tmp_path / "lake"), code=1)
    assert "uncommitted" in orbit(
        shop, "fleet", "push", str(tmp_path / "lake"), "--commit", "HEAD", code=1
    )
    assert not (tmp_path / "lake").exists()
    assert push(shop, tmp_path / "lake", "--commit", "draft")["commit"] == "draft"


def test_a_commit_is_the_one_checked_out(make_repository: MakeRepository, tmp_path: Path) -> None:
    shop = make_repository("shop")
    write(shop, "src/app.py", "pass\n")
    commit(shop)
    for name in ("HEAD~1", "abcdef0123"):
        assert "not the commit" in orbit(
            shop, "fleet", "push", str(tmp_path / "lake"), "--commit", name, code=2
        )
    push(shop, tmp_path / "lake", "--commit", "HEAD")


def test_a_record_that_cannot_be_read_stops_a_push(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    push(shop, lake)
    write(shop, ".orbit/adrs/ADR-0001/adr.yaml", "title: [\n")
    commit(shop)
    assert "ADR-0001/adr.yaml" in orbit(
        shop, "fleet", "push", str(lake), "--repository", "shop", code=1
    )
    assert ask(lake, COUNTS)[0]["records"] == 2


def test_two_repositories_do_not_share_a_name(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    shops = [make_repository(name) for name in ("shop", "other")]
    for root, address in zip(
        shops, ("git@one.example:acme/shop.git", "https://u:p@two.example/acme/shop"), strict=True
    ):
        subprocess.run(["git", "config", "remote.origin.url", address], cwd=root, check=True)
    orbit(shops[0], "fleet", "push", str(lake))
    assert "two.example/acme/shop" in orbit(shops[1], "fleet", "push", str(lake), code=1)
    assert "u:p" not in orbit(shops[1], "fleet", "push", str(lake), "--force")
    orbit(shops[0], "fleet", "push", str(lake), code=1)
    subprocess.run(["git", "config", "--unset", "remote.origin.url"], cwd=shops[0], check=True)
    words = ("fleet", "push", str(lake), "--repository", "acme/shop")
    assert "not one without a remote" in orbit(shops[0], *words, code=1)


@pytest.mark.parametrize(
    ("title", "negated"),
    [
        ("Don't use Redis", True),
        ("Can’t use Redis", True),
        ("We won't use Redis", True),
        ("Use Redis", False),
    ],
)
def test_a_short_not_denies(title: str, negated: bool) -> None:
    assert title_fields(title) == {"title_key": "redi", "negated": negated}


def test_an_older_commit_does_not_replace_a_newer_one(
    make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2030-01-01T00:00:00Z")
    write_learning(shop, 2)
    commit(shop)
    push(shop, lake)
    subprocess.run(["git", "checkout", "-q", "HEAD~1"], cwd=shop, check=True)
    assert push(shop, lake)["outcome"] == "older"
    assert ask(lake, "SELECT count(*) AS n FROM records") == [{"n": 3}]
    assert push(shop, lake, "--force")["records"] == 2
    assert ask(lake, "SELECT count(*) AS n FROM records") == [{"n": 2}]


def test_a_dry_run_writes_nothing(make_repository: MakeRepository, tmp_path: Path) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    assert push(shop, lake, "--dry-run")["rows"]["records"] == 2
    assert not lake.exists()
    push(shop, lake)
    before = files(lake)
    vote(shop, "T-1")
    assert push(shop, lake, "--dry-run")["rows"]["votes"] == 1
    assert files(lake) == before
    assert ask(lake, "FROM votes") == []


def test_a_folder_with_other_files_is_no_lake(make_repository: MakeRepository) -> None:
    shop = make_repository("shop")
    assert "is no lake" in orbit(shop, "fleet", "push", str(shop), code=1)


@pytest.mark.parametrize("character", "*?[]{}")
def test_a_lake_has_no_pattern_in_its_address(
    make_repository: MakeRepository, tmp_path: Path, character: str
) -> None:
    shop = make_repository("shop")
    assert "for a pattern" in orbit(shop, "fleet", "push", str(tmp_path / f"a{character}b"), code=2)
    assert not (tmp_path / f"a{character}b").exists()
    shop = shop.rename(tmp_path / f"shop{character}")
    assert "for a pattern" in orbit(shop, "fleet", "push", "lake", code=2)


def test_without_the_extra_a_command_says_what_to_install(
    make_repository: MakeRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = make_repository("shop")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for words in (["push", str(tmp_path / "lake")], ["report", "--lake", str(tmp_path / "lake")]):
        assert "pip install 'orbit-registry[fleet]'" in orbit(shop, "fleet", *words, code=2)
    orbit(shop, "query", "FROM records")


def test_a_name_follows_the_remote(make_repository: MakeRepository, tmp_path: Path) -> None:
    shop, lake = make_repository("shop"), tmp_path / "lake"
    for address in (
        "git@forge.example:acme/shop.git",
        "https://forge.example/acme/shop/",
        "ssh://u@forge.example:22/acme/shop",
    ):
        subprocess.run(["git", "config", "remote.origin.url", address], cwd=shop, check=True)
        answer = json.loads(orbit(shop, "fleet", "push", str(lake), "--format", "json"))
        assert answer["data"]["repository"] == "acme/shop"
    subprocess.run(
        ["git", "config", "remote.origin.url", str(tmp_path / "org.git")], cwd=shop, check=True
    )
    name = json.loads(orbit(shop, "fleet", "push", str(lake), "--format", "json"))["data"][
        "repository"
    ]
    assert name == str(tmp_path / "org").strip(
        "/"
    )  # another repository may have a remote of the same folder name
    orbit(shop, "fleet", "push", str(lake), "--repository", "../x", code=2)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://u:t@forge.example:8080/acme/org.git", "acme/org"),
        ("git@forge.example:acme/org.git", "acme/org"),
        ("ssh://git@forge.example:22/acme/org", "acme/org"),
        ("../org", "org"),
        ("/srv/git/org.git/", "srv/git/org"),
        ("file:///srv/git/org.git", "srv/git/org"),
        ("..", "base"),
    ],
)
def test_the_name_of_a_source_is_the_one_under_which_it_pushes_itself(
    address: str, name: str
) -> None:
    assert source_repository(Extension("base", address)) == name
