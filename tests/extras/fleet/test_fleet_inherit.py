"""An organisation's records in a repository:
fetched, pinned, read like own ones, and overridden with a reason.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.cli.conftest import answer
from tests.acceptance.conftest import orbit
from tests.extras.fleet.conftest import MakeRepository, ask, push
from tests.files import commit, configure, make_workspace, write, write_record

from orbit_registry.checks.engine import run
from orbit_registry.registry import Registry

COPY = ".orbit/inherited/org"


def update(root: Path, *arguments: str) -> dict[str, Any]:
    """Return what an update of the only source changed."""
    data = json.loads(orbit(root, "fleet", "update", *arguments, "--format", "json"))["data"]
    assert list(answer("fleet update").iter_errors(data)) == []
    source: dict[str, Any] = data["sources"][0]
    return source


@pytest.fixture
def shop(make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that inherits from `org`, which decided on NATS and on PostgreSQL."""
    monkeypatch.setenv("ORBIT_ACTOR", "human")
    org = make_repository("org")
    decision = "[Plan](../plan.md), [data](0001-x.md?plain=1), ADR-0001."
    text = f"# 2. Send messages over NATS\n\nStatus: Accepted\n\n## Decision\n\n{decision}\n"
    write(org, "docs/adr/0002-nats.md", text)
    fields = {
        "title": "Send messages over NATS",
        "status": "accepted",
        "source": {"path": "docs/adr/0002-nats.md"},
    }
    links = [{"rel": "implements", "to": "ADR-0001"}]
    write_record(
        org, ".orbit/adrs/ADR-0002/adr.yaml", **fields, scope={"paths": ["src/**"]}, links=links
    )
    commit(org)
    shop = make_repository("shop", "extends: [{name: org, from: ../org}]\n")
    write(shop, "src/app.py", "pass\n")
    update(shop)
    commit(shop)
    return shop


def shown(root: Path) -> list[str]:
    orbit(root, "sync")
    reply = json.loads(orbit(root, "match", "src/app.py", "--format", "json"))["data"]
    return [record["id"] for record in reply["matches"]]


def findings(root: Path) -> list[str]:
    """Return the findings about links and inherited records."""
    diagnostics = run(Registry.open(root).workspace).diagnostics
    return [str(finding) for finding in diagnostics if finding.code.startswith("ORB3")]


def test_inherited_records_are_read_like_own_ones_in_a_clone_without_the_source(
    shop: Path, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "org")
    shutil.move(shop, tmp_path / "clone")
    clone = tmp_path / "clone"
    assert findings(clone) == []
    assert "org:ADR-0002" in shown(clone)
    record = Registry.open(clone).get("org:ADR-0002")
    assert record.prose.strip().endswith("\nPlan, [data](../ADR-0001/body.md), org:ADR-0001.")
    assert record.links[0].to == "org:ADR-0001"
    assert Registry.open(clone).get("ADR-0001").origin == ""


def test_an_update_reports_and_pins_what_changed(shop: Path, tmp_path: Path) -> None:
    org, pinned = tmp_path / "org", Registry.open(shop).workspace.config.extends[0].digest
    assert (update(shop)["digest"], update(shop)["changed"]) == (pinned, [])
    shutil.rmtree(org / ".orbit/adrs/ADR-0001")
    write(
        org,
        "docs/adr/0002-nats.md",
        "# 2. Send messages over NATS\n\nStatus: Accepted\n\n## Decision\n\nNever.\n",
    )
    write_record(org, ".orbit/adrs/ADR-0003/adr.yaml", title="Log in JSON", status="accepted")
    commit(org)
    planned = update(shop, "org", "--dry-run")
    assert [planned[name] for name in ("added", "changed", "gone")] == [
        ["ADR-0003"],
        ["ADR-0002"],
        ["ADR-0001"],
    ]
    assert Registry.open(shop).workspace.config.extends[0].digest == pinned
    assert (
        update(shop)["digest"] == Registry.open(shop).workspace.config.extends[0].digest != pinned
    )
    assert findings(shop) == []
    assert not (shop / COPY / "adrs/ADR-0001/adr.yaml").exists()


def test_what_a_source_withholds_is_not_copied(shop: Path, tmp_path: Path) -> None:
    configure(tmp_path / "org", "site: {publish: {kinds: [adr], redact: [NATS]}}\n")
    commit(tmp_path / "org")
    update(shop)
    texts = [path.read_text("utf-8") for path in (shop / COPY).rglob("*") if path.is_file()]
    assert not [text for text in texts if "NATS" in text or "database" in text]
    assert [path.name for path in (shop / COPY).iterdir()] == ["adrs"]


@pytest.fixture
def cart(shop: Path, make_repository: MakeRepository) -> Path:
    """A repository that inherits from `shop`, which overrides a decision of `org`."""
    orbit(shop, "link", "ADR-0001", "overrides", "org:ADR-0002", "--reason", "queues suffice")
    commit(shop)
    cart = make_repository("cart", "extends: [{name: shop, from: ../shop}]\n")
    update(cart)
    commit(cart)
    return cart


def test_what_a_source_inherits_is_passed_on_as_the_source_pins_it(cart: Path, shop: Path) -> None:
    pins = {each.name: each for each in Registry.open(cart).workspace.config.extends}
    above = Registry.open(shop).workspace.config.extends[0]
    assert (pins["org"].digest, pins["org"].through) == (above.digest, ("shop",))
    assert findings(cart) == []

    registry = Registry.open(cart)
    assert registry.get("shop:ADR-0001").links[0].to == "org:ADR-0002"
    overridden = registry.get("org:ADR-0002")
    assert (overridden.phase, overridden.superseded_by) == (
        "closed",
        ("shop:ADR-0001",),
    )


def test_a_decision_here_counts_more_than_that_of_a_source(cart: Path) -> None:
    orbit(cart, "link", "ADR-0001", "overrides", "org:ADR-0002", "--reason", "one service")
    assert Registry.open(cart).get("org:ADR-0002").superseded_by == ("ADR-0001",)


def test_a_copy_goes_when_no_source_passes_it_on(cart: Path, shop: Path) -> None:
    make_workspace(shop)
    commit(shop)
    orbit(cart, "fleet", "update")
    assert [each.name for each in Registry.open(cart).workspace.config.extends] == ["shop"]
    assert not (cart / COPY).exists()


def test_sources_that_pass_on_different_copies_are_refused_by_name(
    cart: Path, tmp_path: Path, make_repository: MakeRepository
) -> None:
    write_record(
        tmp_path / "org", ".orbit/adrs/ADR-0003/adr.yaml", title="Log JSON", status="accepted"
    )
    commit(tmp_path / "org")
    bank = make_repository("bank", "extends: [{name: org, from: ../org}]\n")
    update(bank)
    commit(bank)
    both = "extends: [{name: shop, from: ../shop}, {name: bank, from: ../bank}]\n"
    make_workspace(cart, both)
    message = orbit(cart, "fleet", "update", code=1)
    assert "shop inherits org at sha256:" in message
    assert "bank inherits org at sha256:" in message

    make_workspace(cart, f"{both[:-2]}, {{name: org, from: ../org}}]\n")
    orbit(cart, "fleet", "update")
    pinned = {each.name: each.digest for each in Registry.open(cart).workspace.config.extends}
    assert pinned["org"] == Registry.open(bank).workspace.config.extends[0].digest


def test_sources_that_decide_the_opposite_are_named_with_both_sides(
    cart: Path, make_repository: MakeRepository
) -> None:
    bank = make_repository("bank", "extends: [{name: org, from: ../org}]\n")
    update(bank)
    orbit(bank, "link", "ADR-0001", "overrides", "org:ADR-0002", "--reason", "topics suffice")
    fields = {"title": "Do not use PostgreSQL", "status": "accepted"}
    write_record(bank, ".orbit/adrs/ADR-0004/adr.yaml", **fields)
    commit(bank)
    both = "extends: [{name: shop, from: ../shop}, {name: bank, from: ../bank}]\n"
    make_workspace(cart, both)
    orbit(cart, "fleet", "update")
    conflicts = findings(cart)
    assert any(
        "org:ADR-0002 is overridden by bank:ADR-0001 and by shop:ADR-0001" in f for f in conflicts
    )
    assert any("bank:ADR-0004 and shop:ADR-0001 disagree" in f for f in conflicts)


@pytest.mark.parametrize(
    "words",
    [
        ("adr", "retire", "org:ADR-0002"),
        ("adr", "supersede", "org:ADR-0002", "--with", "ADR-0001"),
        ("link", "org:ADR-0002", "amends", "ADR-0001"),
        ("adr", "renumber", "org:ADR-0002"),
        ("adr", "amend", "org:ADR-0002", "--task", "T-1", "--text", "Not here."),
        ("learning", "vote", "org:L-00001", "--task", "T-1", "--model", "m"),
    ],
    ids=" ".join,
)
def test_an_inherited_record_is_changed_where_it_comes_from(
    shop: Path, words: tuple[str, ...]
) -> None:
    assert "inherited from ../org; change them there" in orbit(shop, *words, code=1)


def test_a_new_number_here_changes_no_copy(shop: Path) -> None:
    write(shop, "docs/adr/0001-a.md", "# 1. Keep a log\n\nStatus: Accepted\n")
    fields = {"title": "Keep a log", "status": "accepted", "source": {"path": "docs/adr/0001-a.md"}}
    write_record(shop, ".orbit/adrs/ADR-0001/adr.yaml", **fields)
    write(shop, "src/app.py", "pass  # ADR-0001\n")
    commit(shop)
    before = {path: path.read_bytes() for path in (shop / COPY).rglob("*") if path.is_file()}

    orbit(shop, "adr", "renumber", "ADR-0001")

    assert "ADR-0001" not in (shop / "src/app.py").read_text("utf-8")
    assert any(b"ADR-0001" in content for content in before.values())
    assert {path: path.read_bytes() for path in before} == before
    assert findings(shop) == []


def test_an_own_decision_overrides_an_inherited_one(shop: Path) -> None:
    assert "for a reason" in orbit(shop, "link", "ADR-0001", "overrides", "org:ADR-0002", code=2)
    orbit(shop, "link", "ADR-0001", "overrides", "org:ADR-0002", "--reason", "one queue is enough")
    assert "overrides org:ADR-0002 (one queue is enough)" in orbit(shop, "show", "ADR-0001")
    assert "org:ADR-0002" not in shown(shop)
    retired = Registry.open(shop).collection.records.retirement(
        Registry.open(shop).get("org:ADR-0002")
    )
    assert str(retired) == "org:ADR-0002 was superseded by ADR-0001"
    assert findings(shop) == []


def test_a_check_of_an_inherited_decision_is_run_and_allowed_by_its_id(
    shop: Path, tmp_path: Path
) -> None:
    forbidden = {
        "id": "no-mysql",
        "say": "Use PostgreSQL",
        "text": {"words": ["mysql_connect"]},
        "level": "error",
    }
    examples = {"passes": ["pg_connect()"], "fails": ["mysql_connect()"], "in": ["src/**"]}
    fields = {
        "title": "Keep orders in PostgreSQL",
        "status": "accepted",
        "checks": [forbidden | examples],
    }
    write_record(tmp_path / "org", ".orbit/adrs/ADR-0003/adr.yaml", **fields)
    commit(tmp_path / "org")
    update(shop)
    write(
        shop,
        "src/app.py",
        "mysql_connect()\nmysql_connect()  # orbit: allow org:ADR-0003 because of old data\n",
    )
    commit(shop)
    broken = [
        row for row in run(Registry.open(shop).workspace).diagnostics if row.code == "ORB1005"
    ]
    assert [(str(row.location), row.check) for row in broken] == [
        ("src/app.py:1:1", "org:ADR-0003/no-mysql")
    ]


def test_a_wrong_check_of_an_inherited_decision_is_reported_as_not_run(
    shop: Path, tmp_path: Path
) -> None:
    wrong = {
        "id": "no-mysql",
        "text": {"words": ["mysql"]},
        "passes": ["mysql"],
        "fails": ["mysql"],
        "level": "error",
    }
    fields = {"title": "Keep orders in PostgreSQL", "status": "accepted", "checks": [wrong]}
    write_record(tmp_path / "org", ".orbit/adrs/ADR-0003/adr.yaml", **fields)
    commit(tmp_path / "org")
    update(shop)
    rows = [
        row
        for row in run(Registry.open(shop).workspace).diagnostics
        if row.code.startswith("ORB10")
    ]
    assert [(row.code, str(row.location)) for row in rows] == [("ORB1004", ".orbit/config.yaml")]


def test_a_demand_of_an_inherited_decision_is_found_in_the_whole_tree(
    shop: Path, tmp_path: Path
) -> None:
    demand = {"id": "license", "must": "have", "path": {"of": ["LICENSE"]}, "level": "error"}
    fields = {
        "status": "accepted",
        "checks": [demand | {"passes": ["LICENSE"], "fails": ["README"]}],
    }
    write_record(
        tmp_path / "org", ".orbit/adrs/ADR-0003/adr.yaml", title="Have a license", **fields
    )
    commit(tmp_path / "org")
    update(shop)
    assert broken(shop) == [("ORB1005", ".orbit/config.yaml", "error")]


@pytest.mark.parametrize("how", ["the source is no longer named", "the check goes with an update"])
def test_a_change_that_breaks_an_inherited_check_can_not_take_it_out(
    shop: Path, tmp_path: Path, how: str
) -> None:
    org, forbidden = (
        tmp_path / "org",
        {"id": "no-mysql", "text": {"words": ["mysql"]}, "level": "error"},
    )
    checks = [forbidden | {"passes": ["pg"], "fails": ["mysql"], "in": ["src/**"]}]
    file = write_record(
        org, ".orbit/adrs/ADR-0003/adr.yaml", title="No MySQL", status="accepted", checks=checks
    )
    commit(org)
    update(shop)
    commit(shop)
    write(shop, "src/app.py", "mysql()\n")
    if how.startswith("the source"):
        write(shop, ".orbit/config.yaml", "format: orbit-registry\nschema_version: 1\n")
    else:
        file.unlink()
        commit(org)
        update(shop)
    assert broken(shop, against="HEAD") == [("ORB1008", ".orbit/config.yaml", "error")]


def test_a_change_that_updates_and_breaks_an_inherited_check_is_reported_once(
    shop: Path, tmp_path: Path
) -> None:
    org = tmp_path / "org"
    same = {"id": "version", "same": {"of": {"a.txt": "v={}", "b.txt": "w={}"}}, "level": "error"}
    check = same | {"passes": ["v=1\nw=1"], "fails": ["v=1\nw=2"]}
    fields = {"title": "One version", "status": "accepted"}
    file = write_record(org, ".orbit/adrs/ADR-0003/adr.yaml", **fields, checks=[check])
    commit(org)
    update(shop)
    write(shop, "a.txt", "v=1\n")
    write(shop, "b.txt", "w=1\n")
    commit(shop)
    file.write_text(file.read_text("utf-8").replace("One version", "One version for all"), "utf-8")
    commit(org)
    update(shop)
    (shop / "b.txt").unlink()
    commit(shop)
    assert broken(shop, against="HEAD~1") == [("ORB1005", ".orbit/config.yaml", "error")]


def broken(root: Path, against: str | None = None) -> list[tuple[str, str, str]]:
    rows = run(Registry.open(root).workspace, against=against).diagnostics
    return [
        (row.code, str(row.location), row.severity) for row in rows if row.code.startswith("ORB10")
    ]


def test_a_source_with_a_record_that_can_not_be_read_is_refused(shop: Path, tmp_path: Path) -> None:
    write(tmp_path / "org", ".orbit/adrs/ADR-0003/adr.yaml", "id: [\n")
    commit(tmp_path / "org")
    assert "org: records can't be read" in orbit(shop, "fleet", "update", code=1)
    assert (shop / COPY / "adrs/ADR-0002/adr.yaml").exists()


def test_an_update_reports_that_it_repairs_a_copy(shop: Path) -> None:
    write(shop, f"{COPY}/adrs/ADR-0002/adr.yaml", "id: ADR-0002\n")
    assert "~ org:ADR-0002" in orbit(shop, "fleet", "update")
    assert "nothing changed" in orbit(shop, "fleet", "update")


@pytest.mark.parametrize("user", ["me:t0k3n", "me@example.com:t0k3n", "me:a/t0k3n"])
def test_no_message_has_the_token_of_an_address(user: str, make_repository: MakeRepository) -> None:
    shop = make_repository(
        "shop", f'extends: [{{name: org, from: "http://{user}@127.0.0.1:9/x.git"}}]\n'
    )
    assert "t0k3n" not in orbit(shop, "fleet", "update", code=1)


def test_a_copy_is_the_same_in_a_clone_that_converts_line_ends(shop: Path, tmp_path: Path) -> None:
    commit(shop)
    subprocess.run(
        ["git", "clone", "-q", "-c", "core.autocrlf=true", str(shop), str(tmp_path / "clone")],
        check=True,
    )
    assert findings(tmp_path / "clone") == []


def test_the_site_has_a_page_for_an_inherited_record(shop: Path, tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the site extra is not installed")
    orbit(shop, "site", "build", "--out", str(tmp_path / "site"), "--strict")
    page = (tmp_path / "site/adrs/org/ADR-0002/index.html").read_text("utf-8")
    assert ("inherited from org" in page, "Status: Accepted" in page) == (True, False)
    assert (
        page.count('href="../ADR-0001/"') >= 3
    )  # a link of its text, one cited, one of its record


def test_an_agent_takes_no_records_over(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_record(
        tmp_path / "org", ".orbit/adrs/ADR-0003/adr.yaml", title="Log in JSON", status="accepted"
    )
    commit(tmp_path / "org")
    monkeypatch.setenv("ORBIT_ACTOR", "agent")
    assert "an agent may not" in orbit(shop, "fleet", "update", code=1)


def test_a_source_can_not_name_a_program(make_repository: MakeRepository, tmp_path: Path) -> None:
    shop = make_repository(
        "shop", f'extends: [{{name: org, from: "ext::touch {tmp_path}/mark"}}]\n'
    )
    assert "can't be fetched" in orbit(shop, "fleet", "update", code=1)
    assert not (tmp_path / "mark").exists()


def test_a_lake_gives_the_same_copy_as_a_clone(
    shop: Path, make_repository: MakeRepository, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    push(tmp_path / "org", lake)
    cart = make_repository("cart", f"extends: [{{name: org, from: {lake}, repository: org}}]\n")
    assert update(cart)["digest"] == Registry.open(shop).workspace.config.extends[0].digest


def test_a_report_says_who_inherits_and_overrides(
    shop: Path, make_repository: MakeRepository, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    orbit(shop, "link", "ADR-0001", "overrides", "org:ADR-0002", "--reason", "one queue is enough")
    commit(shop)
    for name in ("org", "shop"):
        push(tmp_path / name, lake)
    assert ask(lake, "SELECT id FROM records WHERE repository = 'shop'") == [
        {"id": "ADR-0001"},
        {"id": "L-00001"},
    ]

    def report(question: str) -> list[dict[str, Any]]:
        text = orbit(shop, "fleet", "report", question, "--lake", str(lake), "--format", "json")
        rows: list[dict[str, Any]] = json.loads(text)["data"][0]["rows"]
        return rows

    (row,) = report("overrides")
    assert [
        row[name]
        for name in ("decision", "title", "relation", "overridden_in", "overridden_by", "reason")
    ] == [
        "org:ADR-0002",
        "Send messages over NATS",
        "overrides",
        "shop",
        "ADR-0001",
        "one queue is enough",
    ]
    digest = Registry.open(shop).workspace.config.extends[0].digest[7:19]
    assert report("inheritance") == [
        {"source": f"org {digest}", "repository": "shop", "overrides": 1}
    ]
    cart = make_repository(
        "cart", "extends: [{name: org, from: ../org}, {name: shop, from: ../shop}]\n"
    )
    orbit(cart, "fleet", "update")
    commit(cart)
    push(cart, lake)
    rows = [
        (row["source"].split()[0], row["repository"], row["overrides"])
        for row in report("inheritance")
    ]
    assert rows == [("org", "cart", 0), ("org", "shop", 1), ("shop", "cart", 0)]


def test_an_own_copy_that_overrides_a_decision_is_no_duplicate(shop: Path) -> None:
    copy = {"title": "Send messages over NATS", "status": "proposed", "summary": "Plan, data."}
    text = (shop / COPY / "adrs/ADR-0002/body.md").read_text("utf-8").replace("org:", "")
    for links in ([], [{"rel": "overrides", "to": "org:ADR-0002", "reason": "we add a queue"}]):
        write_record(shop, ".orbit/adrs/ADR-0009/adr.yaml", **copy, links=links)
        write(shop, ".orbit/adrs/ADR-0009/body.md", text)
        codes = [
            row.code
            for row in run(Registry.open(shop).workspace).diagnostics
            if row.record == "ADR-0009"
        ]
        assert ("ORB601" in codes or "ORB602" in codes) == (not links)


@pytest.mark.parametrize("links", [True, False])
def test_a_source_needs_records_of_its_own(
    make_repository: MakeRepository, tmp_path: Path, *, links: bool
) -> None:
    make_repository("private")
    org = make_repository("org")
    shutil.rmtree(org / ".orbit")
    if links:
        (org / ".orbit").symlink_to(tmp_path / "private/.orbit")
    commit(org)
    shop = make_repository("shop", "extends: [{name: org, from: ../org}]\n")
    assert "../org has no records of Orbit" in orbit(shop, "fleet", "update", code=1)
