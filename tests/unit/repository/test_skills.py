"""What a skill's page says of itself: its head, however it is written."""

from pathlib import Path

import pytest
from tests.files import write

from orbit_registry.model.kind import load_kinds
from orbit_registry.operations.init import setup_workspace
from orbit_registry.repository.skills import read_skills
from orbit_registry.workspace.workspace import open_workspace

WANTED = "Look into the warehouse: list tables, inspect columns."


@pytest.mark.parametrize(
    "field",
    [
        f"description: {WANTED}",
        f'description: "{WANTED}"',
        "description: >\n  Look into the warehouse: list tables,\n  inspect columns.",
        "description: >-\n  Look into the warehouse: list tables,\n  inspect columns.",
        "description: |\n  Look into the warehouse:\n  list tables, inspect columns.",
        "description:\n  Look into the warehouse: list tables,\n  inspect columns.",
    ],
)
def test_a_description_may_have_any_yaml_form(field: str, tmp_path: Path) -> None:
    write(
        tmp_path,
        ".claude/skills/explore/SKILL.md",
        f"---\nname: explore\n{field}\nallowed-tools: Bash\n---\n\n# Explore\n",
    )
    setup_workspace(tmp_path, load_kinds())

    ((skill,), problems) = read_skills(open_workspace(tmp_path))

    assert (skill.name, skill.description, problems) == ("explore", WANTED, [])
