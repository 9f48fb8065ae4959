"""`orbit diff --post`: one comment at a forge.

A server on loopback answers as the forges' APIs are published.
"""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.files import write, write_learning

TOKEN = "token-for-tests"


class Forge(BaseHTTPRequestHandler):
    """Lists comments by pages, creates and updates them."""

    form = "github"
    account: ClassVar[dict[str, str] | None] = None
    """What `/user` answers; None: the token belongs to an app, which may not ask."""
    comments: ClassVar[list[dict[str, Any]]] = []
    refusal = 0
    user_code = 0

    def do_GET(self) -> None:
        if self.path == "/user":
            code = self.user_code or (200 if self.account else 403)
            self.answer(
                code, self.account if code == 200 else {"message": "Resource not accessible"}
            )
            return
        match = re.search(r"\?per_page=(\d+)&page=(\d+)$", self.path)
        assert match
        size, page = map(int, match.groups())
        self.answer(200, self.comments[(page - 1) * size : page * size])

    def do_POST(self) -> None:
        assert self.path.startswith(
            ("/repos/example/shop/issues/7/comments", "/projects/42/merge_requests/7/notes")
        )
        self.write(len(self.comments) + 1)

    def do_PATCH(self) -> None:
        assert self.form == "github"
        self.update()

    def do_PUT(self) -> None:
        assert self.form == "gitlab"
        self.update()

    def update(self) -> None:
        self.write(int(self.path.rpartition("/")[2]))

    def write(self, number: int) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        header = {"github": f"Bearer {TOKEN}", "gitlab": TOKEN}[self.form]
        assert self.headers["Authorization" if self.form == "github" else "PRIVATE-TOKEN"] == header
        if self.refusal:
            self.answer(self.refusal, {"message": "Resource not accessible by integration"})
            return
        assert len(body) <= 65_536
        author = self.account or {"login": "github-actions[bot]", "type": "Bot"}
        comment = {
            "id": number,
            "body": body,
            "user" if self.form == "github" else "author": author,
        }
        if self.form == "github":
            comment["html_url"] = f"https://github.com/example/shop/pull/7#issuecomment-{number}"
        self.comments[number - 1 : number] = [comment]
        self.answer(200, comment)

    def answer(self, code: int, data: Any) -> None:
        content = json.dumps(data).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Forge]]:
    class Server(Forge):
        comments: ClassVar[list[dict[str, Any]]] = []

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    event = write(tmp_path, "event.json", json.dumps({"pull_request": {"number": 7}}))
    address = f"http://127.0.0.1:{server.server_port}"
    for name, value in {
        "GITHUB_API_URL": address,
        "GITHUB_REPOSITORY": "example/shop",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_RUN_ID": "99",
        "GITHUB_TOKEN": TOKEN,
        "CI_API_V4_URL": address,
        "CI_MERGE_REQUEST_PROJECT_ID": "42",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_PROJECT_URL": "https://gitlab.com/example/shop",
        "ORBIT_GITLAB_TOKEN": TOKEN,
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    yield Server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("form", "account", "address"),
    [
        ("github", None, "https://github.com/example/shop/pull/7#issuecomment-1"),
        (
            "gitlab",
            {"username": "orbit"},
            "https://gitlab.com/example/shop/-/merge_requests/7#note_1",
        ),
    ],
)
def test_the_first_run_posts_and_the_next_one_updates(
    shell: Any, forge: type[Forge], form: str, account: dict[str, str] | None, address: str
) -> None:
    forge.form, forge.account = form, account
    write_learning(shell.root, 1)

    assert shell("diff", "HEAD", "--post", form)[2] == f"comment created: {address}\n"
    assert shell("diff", "HEAD", "--post", form)[2] == f"comment unchanged: {address}\n"
    write_learning(shell.root, 2)
    assert shell("diff", "HEAD", "--post", form)[2] == f"comment updated: {address}\n"
    assert len(forge.comments) == 1
    assert "L-00002" in forge.comments[0]["body"]


@pytest.mark.parametrize(
    ("account", "author"),
    [
        (None, {"login": "ada", "type": "User"}),
        (None, {"login": "review-bot[bot]", "type": "Bot"}),
        ({"login": "release-bot"}, {"login": "review-bot", "type": "Bot"}),
    ],
)
def test_a_comment_of_another_account_is_not_changed(
    shell: Any, forge: type[Forge], account: dict[str, str] | None, author: dict[str, str]
) -> None:
    forge.account = account
    forge.comments += [{"id": 1, "body": "<!-- orbit-diff -->\nas a joke", "user": author}]

    assert shell("diff", "HEAD", "--post", "github")[2].startswith("comment created")
    assert forge.comments[0]["body"] == "<!-- orbit-diff -->\nas a joke"


def test_no_second_comment_is_posted_if_the_account_is_unknown(
    shell: Any, forge: type[Forge]
) -> None:
    forge.user_code = 502

    assert shell("diff", "HEAD", "--post", "github")[0] == 1
    assert forge.comments == []


def test_the_comment_is_found_on_a_later_page(shell: Any, forge: type[Forge]) -> None:
    bot = {"login": "github-actions[bot]", "type": "Bot"}
    forge.comments += [
        {"id": number, "body": "Looks good", "user": bot} for number in range(1, 151)
    ]
    forge.comments += [{"id": 151, "body": "<!-- orbit-diff -->\nold", "user": bot}]

    assert shell("diff", "HEAD", "--post", "github")[2].endswith("#issuecomment-151\n")
    assert len(forge.comments) == 151


def test_a_comment_that_is_too_long_is_cut_with_a_link(shell: Any, forge: type[Forge]) -> None:
    for number in range(400):
        write_learning(shell.root, number, summary=f"{number} " + "long " * 40)

    assert shell("diff", "HEAD", "--post", "github")[0] == 0

    body = forge.comments[0]["body"]
    assert 60_000 < len(body) <= 65_536
    assert body.count("<details>") == body.count("</details>")
    assert "(https://github.com/example/shop/actions/runs/99)" in body.splitlines()[-1]


@pytest.mark.parametrize(
    ("form", "lacks"), [("github", "pull-requests: write"), ("gitlab", "scope `api`")]
)
def test_a_refusal_says_what_the_token_lacks(
    shell: Any, forge: type[Forge], form: str, lacks: str
) -> None:
    forge.form, forge.refusal = form, 403
    forge.account = {"username": "orbit"} if form == "gitlab" else None

    code, out, err = shell("diff", "HEAD", "--post", form)

    assert code == 1
    assert "403 Resource not accessible by integration" in err
    assert lacks in err
    assert TOKEN not in out + err


@pytest.mark.parametrize(
    ("name", "value"),
    [("GITHUB_TOKEN", ""), ("GITHUB_TOKEN", f"{TOKEN}\nX-Evil: 1"), ("GITHUB_EVENT_PATH", "")],
)
def test_what_the_environment_lacks_is_named(
    shell: Any, forge: type[Forge], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    code, out, err = shell("diff", "HEAD", "--post", "github")

    assert (code, forge.comments) == (2, [])
    assert name in err
    assert TOKEN not in out + err


def test_a_forge_that_is_not_there_is_said_to_be(
    shell: Any, forge: type[Forge], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")

    assert "GitHub did not answer" in shell("diff", "HEAD", "--post", "github")[2]
