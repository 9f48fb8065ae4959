"""The kind resource, as its schema states it."""

import pytest

from orbit_registry.model.kind import load_kinds

KIND = load_kinds()["resource"]
DOC = {
    "schema_version": 1,
    "id": "RES-7k3fq",
    "uid": "0" * 32,
    "title": "Deploying",
    "status": "active",
    "type": "doc",
    "versions": ["unversioned"],
    "file": "unversioned/deploying.md",
    "content_hash": f"sha256:{'0' * 64}",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}
SCRIPT = {name: value for name, value in DOC.items() if name != "file"} | {
    "type": "script",
    "path": "tools/job.sh",
}


@pytest.mark.parametrize(
    "data",
    [
        DOC,
        SCRIPT,
        {**DOC, "versions": ["2.1"]},
        {**DOC, "versions": ["2", "3"], "chunking": {"strategy": "none"}},
    ],
)
def test_what_a_resource_may_be(data: dict[str, object]) -> None:
    assert KIND.schema.problems(data) == []


@pytest.mark.parametrize(
    "data",
    [
        {name: value for name, value in SCRIPT.items() if name != "path"},
        {name: value for name, value in DOC.items() if name != "file"},
        {**DOC, "versions": ["unversioned", "2"]},
        {**DOC, "versions": []},
        {**DOC, "versions": ["shared"]},
        {**DOC, "versions": ["2,3"]},
        {**DOC, "versions": ["../2"]},
        {**DOC, "type": "video"},
        {**SCRIPT, "path": "../job.sh"},
        {**SCRIPT, "path": "/bin/sh"},
        {**SCRIPT, "path": "tools/../../job.sh"},
        {**DOC, "file": "../adr.yaml"},
        {**DOC, "file": "unversioned/.hidden"},
        {**DOC, "file": "a/b/c.md"},
        {**DOC, "content_hash": "abc"},
        {**DOC, "chunking": {"strategy": "semantic"}},
        {**DOC, "chunking": {"size": 3}},
    ],
)
def test_what_a_resource_can_not_be(data: dict[str, object]) -> None:
    assert KIND.schema.problems(data)
