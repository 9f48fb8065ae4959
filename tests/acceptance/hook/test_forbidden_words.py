"""Words that a decision forbids, told at the call that would write them."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.hook.conftest import bring_up_to_date
from tests.extras.enforce.test_run import decide
from tests.files import write

Call = Callable[..., dict[str, Any]]
MYSQL = {
    "id": "no-mysql",
    "say": "Use PostgreSQL",
    "in": ["src/**/*.py"],
    "except": ["src/old/**"],
    "text": {"words": ["connect_mysql", "MySQLdb", "my\u202esql"]},
    "passes": ["connect()"],
    "fails": ["connect_mysql()"],
}
OLD = "import os\n\nconnect_mysql()\n"
DOCUMENTED = '''"""The pool.

It was once opened.
"""
import os
'''

SHORT = '''def f():
    """Opened by all."""
    g("Hi!")  # as it does
'''
TWICE = "x = 1  # pool\npool = 2\n"
ALLOWED = "# orbit: allow ADR-0001 because it is old: text\n"


@pytest.fixture
def project(root: Path) -> Path:
    for record in root.glob(".orbit/learnings/*/learning.yaml"):
        record.unlink()
    decide(
        root,
        MYSQL,
        {
            **MYSQL,
            "id": "any",
            "text": {"words": ["draft"], "ignore_case": True, "where": "any"},
            "passes": ["x"],
            "fails": ["# Draft"],
        },
        scope={"paths": ["docs/**"]},
    )
    decide(
        root,
        {**MYSQL, "text": {"words": ["psycopg"]}, "fails": ["psycopg"]},
        status="proposed",
        number=2,
    )
    write(root, "src/a.py", OLD)
    write(root, "src/pool.py", DOCUMENTED)
    write(root, "src/short.py", SHORT)
    write(root, "src/twice.py", TWICE)
    write(root, "src/allowed.py", ALLOWED)
    bring_up_to_date(root)
    return root


def edit(
    new: str, old: str = "import os\n", path: str = "src/a.py"
) -> tuple[str, dict[str, object]]:
    return "Edit", {"file_path": path, "old_string": old, "new_string": new}


TOLD = {
    "an edit": edit("import os, MySQLdb\n"),
    "a file": ("Write", {"file_path": "src/new/b.py", "content": "x = 1\nconnect_mysql()\n"}),
    "several edits": (
        "MultiEdit",
        {
            "file_path": "src/a.py",
            "edits": [
                {"old_string": "import os", "new_string": "import re"},
                {"old_string": "\n\n", "new_string": "\nMySQLdb.x\n"},
            ],
        },
    ),
    "a here-document": (
        "Bash",
        {"command": "cd src && cat > b.py <<'EOF'\nconnect_mysql()\nEOF\n"},
    ),
    "a patch": (
        "apply_patch",
        {"input": "*** Begin Patch\n*** Update File: src/a.py\n+MySQLdb\n*** End Patch"},
    ),
    "any place, any case": edit("import os  # DRAFT\n"),
    "a part of a file that has one": (
        "edit_file",
        {"file_path": "src/a.py", "code_edit": "connect_mysql()\n"},
    ),
    "many on one line": (
        "Write",
        {"file_path": "src/b.py", "content": "x=connect_mysql;" * 60_000},
    ),
    "one after many that are allowed": (
        "Write",
        {
            "file_path": "src/b.py",
            "content": "connect_mysql()  # orbit: allow ADR-0001 because it is old\n" * 1_200
            + "connect_mysql()\n",
        },
    ),
    "an allowance of another record": edit(
        "connect_mysql()  # orbit: allow ADR-0011 because it is old\n"
    ),
    "an allowance without a reason": edit("connect_mysql()  # orbit: allow ADR-0001\n"),
    "a line after one that is allowed": edit(
        "x  # orbit: allow ADR-0001 because it is old\nconnect_mysql()\n"
    ),
    "after the end of a docstring that has it": edit(
        'opened by connect_mysql.\n"""\nconnect_mysql()\n', 'opened.\n"""\n', "src/pool.py"
    ),
    "code after a docstring that ends on the line": edit(
        'all."""; connect_mysql()', 'all."""', "src/short.py"
    ),
    "code and a comment": edit("connect_mysql", "pool", "src/twice.py"),
    "after a docstring": edit('"""Connect."""\nconnect_mysql()\n'),
    "one more in a file that has one": edit(
        "connect_mysql()\nconnect_mysql()\n", "connect_mysql()\n"
    ),
}
QUIET = {
    "the old text alone has it": edit("connect()\n", "connect_mysql()\n"),
    "the file has as many": ("Write", {"file_path": "src/a.py", "content": f"import re\n{OLD}"}),
    "a part of a word": edit("reconnect_mysql()\n"),
    "a word with hidden characters": edit("my\u202esql()\n"),
    "any case, after an allowance on the line": edit("Draft", "text", "src/allowed.py"),
    "a comment": edit("import os  # no connect_mysql here\n"),
    "a string": edit("x = 'connect_mysql'\n"),
    "another file": edit("connect_mysql()\n", path="lib/a.py"),
    "an exception": edit("connect_mysql()\n", path="src/old/a.py"),
    "a proposed record": edit("psycopg\n"),
    "a docstring": edit('''def f():
    """Use the pool.

    It was once opened by connect_mysql alone.
    """
'''),
    "a docstring in single quotes": edit("""def f():
    '''Use the pool.

    It was once opened by connect_mysql alone.
    '''
"""),
    "a part of a line of a docstring": edit("once by connect_mysql", "once", "src/pool.py"),
    "a part of a docstring in one line": edit("by connect_mysql.", "by all.", "src/short.py"),
    "a part of a comment": edit("as connect_mysql does", "as it does", "src/short.py"),
    "a part of a string": edit("connect_mysql!", "Hi!", "src/short.py"),
    "the rest of a word": edit("connect_mysql_all", "all", "src/short.py"),
    "a line of a docstring": edit(
        "It was opened by connect_mysql.", "It was once opened.", "src/pool.py"
    ),
    "the end of a docstring, and another one": edit(
        'opened by connect_mysql.\n"""\ndef f():\n    """No connect_mysql."""\n',
        'opened.\n"""\n',
        "src/pool.py",
    ),
    "a line that is allowed": edit(
        "connect_mysql()  # orbit: allow ADR-0001 because of the old shop\n"
    ),
    "the line after an allowance": edit(
        "# orbit: allow ADR-0001/no-mysql because of the shop\nconnect_mysql()\n"
    ),
    "a read": ("Read", {"file_path": "src/a.py"}),
    "a search": ("Bash", {"command": "grep connect_mysql src/a.py"}),
}


def shown(reply: dict[str, Any]) -> str:
    return str(reply.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.mark.parametrize("name", TOLD)
def test_a_forbidden_word_is_told_before_it_is_written(
    name: str, project: Path, call: Call
) -> None:
    tool, arguments = TOLD[name]
    text = shown(call("PreToolUse", tool_name=tool, tool_input=arguments))
    assert (
        "which ADR-0001 forbids here: Use PostgreSQL; to challenge it, write `orbit: allow "
        "ADR-0001 because"
    ) in text


@pytest.mark.parametrize("name", QUIET)
def test_what_brings_no_forbidden_word_is_told_nothing(
    name: str, project: Path, call: Call
) -> None:
    tool, arguments = QUIET[name]
    assert "forbids" not in shown(call("PreToolUse", tool_name=tool, tool_input=arguments))


def test_many_words_that_are_allowed_take_no_time(project: Path, call: Call) -> None:
    words = [f"old_{number}" for number in range(40)]
    decide(project, {**MYSQL, "text": {"words": [*words, "zz_mysql"]}, "fails": ["zz_mysql"]})
    bring_up_to_date(project)
    lines = [f"{word}()  # orbit: allow ADR-0001 because of the old shop\n" for word in words]
    content = "".join([*lines, "x = 1\n" * 60_000, "zz_mysql.x\n"])
    before = os.times()
    reply = call(
        "PreToolUse", tool_name="Write", tool_input={"file_path": "src/b.py", "content": content}
    )
    after = os.times()
    assert "`zz_mysql`" in shown(reply)
    assert after.children_user - before.children_user < 0.4


def test_many_words_in_a_large_file_take_no_time(project: Path, call: Call) -> None:
    words = [[f"w{check}_{number}" for number in range(90)] for check in range(10)]
    decide(
        project,
        *(
            {**MYSQL, "id": f"c{number}", "text": {"words": row}, "fails": [row[0]]}
            for number, row in enumerate(words)
        ),
    )
    bring_up_to_date(project)
    content = "".join(f"# {word} {'x' * 100}\n" for row in words for word in row) * 4
    before = os.times()
    call("PreToolUse", tool_name="Write", tool_input={"file_path": "src/b.py", "content": content})
    after = os.times()
    assert after.children_user - before.children_user < 0.3  # each word in the whole text took 1 s


def test_each_file_is_told_once_in_a_session(project: Path, call: Call) -> None:
    texts = [
        shown(
            call(
                "PreToolUse",
                tool_name="Write",
                tool_input={"file_path": path, "content": "MySQLdb"},
            )
        )
        for path in ("src/b.py", "src/b.py", "src/c.py")
    ]
    assert ["`MySQLdb`" in text for text in texts] == [True, False, True]


def test_a_record_that_the_gate_enforces_is_one_line(project: Path, call: Call) -> None:
    decide(project, {**MYSQL, "level": "error"}, scope={"paths": ["src/**"]})
    bring_up_to_date(project)
    text = shown(call("PreToolUse", tool_name="Read", tool_input={"file_path": "src/a.py"}))
    assert (
        text.splitlines()[2]
        == "- [ADR-0001] Log through the logger (enforced by ADR-0001/no-mysql)"
    )
    assert "more:" not in text.splitlines()[3]


def test_a_check_in_a_wrong_form_stops_no_sync(root: Path) -> None:
    decide(root, {"id": "no-mysql", "text": "mysql"})
    bring_up_to_date(root)
