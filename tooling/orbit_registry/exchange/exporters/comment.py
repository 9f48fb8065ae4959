"""One comment on a pull request of GitHub or a merge request of GitLab, posted once, then
updated.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, Request, build_opener

from orbit_registry.errors import DeliveryError, UsageError

LONGEST = 65_536  # characters that GitHub takes in a comment
_PAGE, _MOST_PAGES = 100, 50
_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Forge:
    """A pull request's comments at a forge, and how its API names things."""

    name: str
    api: str
    comments: str  # path of the list of comments
    comment: str  # path of one comment, with its id in place of `{}`
    update: str  # HTTP method of an update
    author: tuple[str, str]
    """Field of a comment that holds its author, and the author's field with the account's name."""
    headers: Mapping[str, str]
    page: str  # address of the pull request
    run: str  # address of the CI run; may be empty
    permission: str  # what a refused token lacks
    app: str = ""  # account of the CI's own token, which may not ask for its name


def github() -> Forge:
    """Return the pull request of this GitHub Actions run."""
    repository = _variable("GITHUB_REPOSITORY", "github")
    number = _pull_request()
    token = _variable("GITHUB_TOKEN", "github")

    page = os.environ.get("GITHUB_SERVER_URL", "https://github.com") + f"/{repository}"
    run = os.environ.get("GITHUB_RUN_ID", "")
    if run:
        run = f"{page}/actions/runs/{run}"

    return Forge(
        name="GitHub",
        api=os.environ.get("GITHUB_API_URL", "https://api.github.com"),
        comments=f"/repos/{repository}/issues/{number}/comments",
        comment=f"/repos/{repository}/issues/comments/{{}}",
        update="PATCH",
        author=("user", "login"),
        headers={
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
        page=f"{page}/pull/{number}",
        run=run,
        permission="give the job `permissions: {pull-requests: write}`; a token can't write for "
        "a fork's pull request",
        app="github-actions[bot]",
    )


def _pull_request() -> int:
    try:
        with open(os.environ.get("GITHUB_EVENT_PATH", ""), encoding="utf-8") as file:  # noqa: PTH123 - "" is no path
            event = json.load(file)
        return int(event["pull_request"]["number"])
    except (OSError, ValueError, KeyError, TypeError):
        hint = "post in a workflow that starts `on: pull_request`"
        raise UsageError("GITHUB_EVENT_PATH names no event of a pull request", hint=hint) from None


def gitlab() -> Forge:
    """Return the merge request of this GitLab CI job."""
    project = _variable("CI_MERGE_REQUEST_PROJECT_ID", "gitlab")
    number = _variable("CI_MERGE_REQUEST_IID", "gitlab")
    notes = f"/projects/{quote(project, safe='')}/merge_requests/{quote(number, safe='')}/notes"

    return Forge(
        name="GitLab",
        api=_variable("CI_API_V4_URL", "gitlab"),
        comments=notes,
        comment=f"{notes}/{{}}",
        update="PUT",
        author=("author", "username"),
        headers={"PRIVATE-TOKEN": _variable("ORBIT_GITLAB_TOKEN", "gitlab")},
        page=f"{os.environ.get('CI_MERGE_REQUEST_PROJECT_URL', '')}/-/merge_requests/{number}",
        run=os.environ.get("CI_JOB_URL", ""),
        permission="the token needs the scope `api` and the role Reporter; a job token can't "
        "write notes",
    )


FORGES = {"github": github, "gitlab": gitlab}
_EXAMPLES = {
    "GITHUB_TOKEN": "env: {GITHUB_TOKEN: ${{ github.token }}}",
    "ORBIT_GITLAB_TOKEN": (
        "make a project access token with the scope `api`, and a masked CI/CD variable of it"
    ),
}


def _variable(name: str, forge: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        hint = _EXAMPLES.get(
            name, f"`--post {forge}` is for jobs of its CI that run for a pull request"
        )
        raise UsageError(f"the environment has no {name}", hint=hint)

    if not value.isascii() or not value.isprintable() or " " in value:
        # The value itself is never shown.
        raise UsageError(
            f"{name} has a space or a character that is not ASCII", hint="set it without quotes"
        )

    return value


def post(forge: Forge, marker: str, text: str) -> tuple[str, str]:
    """Post a comment, or update this account's comment that begins with `marker`.

    Return what was done, and where.
    """
    body = {"body": fitted_comment(text, forge.run)}
    account = _account(forge)
    for comment in _comments(forge):
        before = str(comment.get("body") or "")
        if before.startswith(marker) and _is_by(forge, comment, account):
            if before.strip() == body["body"].strip():
                return "unchanged", _address(forge, comment)

            path = forge.comment.format(comment["id"])
            return "updated", _address(forge, _call(forge, forge.update, path, body))

    return "created", _address(forge, _call(forge, "POST", forge.comments, body))


def fitted_comment(text: str, run: str) -> str:
    """Return a text that fits into one comment: its first lines, then where the rest is."""
    if len(text) <= LONGEST:
        return text

    note = "The rest is in the log of the CI run"
    if run:
        note = f"[The rest is in the CI run]({run})"

    end = f"\n\n{note}: `orbit diff` prints all of it.\n"
    head = text[: LONGEST - len(end) - len("\n\n</details>")]
    head = head[: head.rfind("\n")]
    if head.rfind("<details>") > head.rfind("</details>"):
        head += "\n\n</details>"

    return head + end


class _ForbiddenError(DeliveryError):
    """The token may not do this."""


def _account(forge: Forge) -> str:
    try:
        return str(_call(forge, "GET", "/user")[forge.author[1]])
    except _ForbiddenError:
        if forge.app:
            return forge.app
        raise
    except (KeyError, TypeError):
        raise DeliveryError(
            f"{forge.name} did not name the token's account", hint=forge.permission
        ) from None


def _is_by(forge: Forge, comment: Mapping[str, Any], account: str) -> bool:
    return (comment.get(forge.author[0]) or {}).get(forge.author[1]) == account


def _comments(forge: Forge) -> Iterator[Mapping[str, Any]]:
    for page in range(1, _MOST_PAGES + 1):
        comments = _call(forge, "GET", f"{forge.comments}?per_page={_PAGE}&page={page}")
        yield from comments
        if len(comments) < _PAGE:
            return


def _address(forge: Forge, comment: Mapping[str, Any]) -> str:
    return str(comment.get("html_url") or f"{forge.page}#note_{comment.get('id')}")


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: the token is for one host."""

    def redirect_request(self, *_arguments: Any) -> None:
        """Refuse to follow."""


def _call(forge: Forge, method: str, path: str, data: Mapping[str, str] | None = None) -> Any:
    headers = {**forge.headers, "User-Agent": "orbit-registry", "Content-Type": "application/json"}
    content = None if data is None else json.dumps(data).encode()
    request = Request(forge.api.rstrip("/") + path, content, headers, method=method)

    try:
        with build_opener(_NoRedirect).open(request, timeout=_TIMEOUT_SECONDS) as response:
            return json.load(response)
    except HTTPError as error:
        with error:
            kind = _ForbiddenError if error.code == 403 else DeliveryError
            raise kind(_refusal(forge, error), hint=_hint(forge, error)) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise DeliveryError(
            f"{forge.name} did not answer: {reason}", hint=f"is {forge.api} reachable?"
        ) from None


def _refusal(forge: Forge, error: HTTPError) -> str:
    try:
        answer = json.loads(error.read(10_000))
        message = answer.get("message") or answer.get("error") or error.reason
    except (OSError, ValueError, AttributeError):
        message = error.reason
    return f"{forge.name} refused the comment: {error.code} {message}"


def _hint(forge: Forge, error: HTTPError) -> str:
    if error.code == 429 or error.headers.get("x-ratelimit-remaining") == "0":
        return "the limit of requests is used up: try again later"
    if error.code in (401, 403):
        return forge.permission
    if error.code >= 500:
        return "try again later"

    return f"see {forge.page}"
