"""What a numbered decision file is, for everybody who asks."""

import pytest

from orbit_registry.formats.adr.file_names import (
    date_of_path,
    home_folder,
    is_decision_name,
    number_of_path,
    status_of_path,
    strip_date_folders,
    title_of_path,
)


@pytest.mark.parametrize(
    ("path", "number", "date", "title", "is_decision"),
    [
        ("0042-use-x.md", "0042", None, "Use x", True),
        ("042_use_x.md", "042", None, "Use x", True),
        ("adr-7-use-x.md", "7", None, "Use x", True),
        ("ADR0007.md", "0007", None, "ADR0007", True),
        ("decision-12-use-x.md", "12", None, "Use x", True),
        ("02-setup.md", "02", None, "Setup", False),
        ("ODH-ADR-DSP-0001-use-x.md", "0001", None, "Use x", True),
        ("DR_0008_use_x.md", "0008", None, "Use x", True),
        ("uxdr-3.md", "3", None, "Uxdr-3", True),
        ("header-001.md", None, None, "Header 001", False),
        ("addr-0001.md", None, None, "Addr 0001", False),
        ("20260401-use-x.md", None, "2026-04-01", "Use x", True),
        ("2026-04-01-use-x.md", None, "2026-04-01", "Use x", True),
        ("2026_04_01_use_x.md", None, "2026-04-01", "Use x", True),
        ("rfc-0007-use-x.md", "0007", None, "Use x", True),
        ("2026-04-use-x.md", None, None, "2026 04 use x", True),
        ("ADR-0042/README.md", "0042", None, "ADR-0042", True),
        ("use-x.md", None, None, "Use x", False),
        ("", None, None, "", False),
    ],
)
def test_a_name_says_number_date_and_title(
    path: str, number: str | None, date: str | None, title: str, is_decision: bool
) -> None:
    assert (number_of_path(path), date_of_path(path)) == (number, date)
    folder, _, name = path.rpartition("/")
    assert is_decision_name(folder or name.removesuffix(".md")) is is_decision
    assert title_of_path(path) == title


@pytest.mark.parametrize(
    ("folder", "kept_in"),
    [
        ("docs/decisions/2024", "docs/decisions"),
        ("docs/decisions/2024-03", "docs/decisions"),
        ("docs/decisions/2024/03", "docs/decisions"),
        ("docs/decisions/2024/03/17", "docs/decisions"),
        ("docs/decisions/2024.03.17", "docs/decisions"),
        ("docs/decisions/v2024", "docs/decisions/v2024"),
        ("docs/decisions/2024-13", "docs/decisions/2024-13"),
        ("docs/decisions/03", "docs/decisions/03"),
        ("2024", "2024"),
        ("2024/03", "2024/03"),
        ("", ""),
    ],
)
def test_a_date_is_no_folder_of_its_own(folder: str, kept_in: str) -> None:
    assert strip_date_folders(folder) == kept_in


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("docs/adr/rejected/0001-x.md", "rejected"),
        ("docs/adr/02-accepted/0001-x.md", "accepted"),
        ("docs/adr/_superseded/0001-x.md", "superseded"),
        ("docs/adr/deprecated-adrs/0001-x.md", "deprecated"),
        ("docs/adr/drafts/2024/0001-x.md", "proposed"),
        ("docs/adr/abgelehnt/0001-x/README.md", "rejected"),
        ("rfcs/implemented/mail/0001-x.md", "accepted"),
        ("docs/adr/0001-x.md", None),
        ("docs/adr/archive/0001-x.md", None),
        ("docs/adr/done/0001-x.md", None),
        ("rejected/docs/adr/0001-x.md", None),
        ("docs/rejected/team/mail/0001-x.md", None),
        ("rejected.md", None),
    ],
)
def test_a_folder_may_say_a_status(path: str, status: str | None) -> None:
    assert status_of_path(path) == status


@pytest.mark.parametrize(
    ("folder", "home"),
    [
        ("docs/adr/rejected", "docs/adr"),
        ("docs/adr/archive/2024", "docs/adr"),
        ("docs/adr/archive/rejected", "docs/adr"),
        ("docs/archive/adr", "docs/archive/adr"),
        ("rejected", "rejected"),
        ("", ""),
    ],
)
def test_archives_and_status_folders_are_no_home(folder: str, home: str) -> None:
    assert home_folder(folder) == home
