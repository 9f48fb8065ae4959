"""A title as part of a file name, in any script."""

import pytest

from orbit_registry.operations.adr_style import slug


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Use C++ & Rust_2", "use-c-rust-2"),
        ("Straße über Łódź", "strasse-uber-lodz"),
        ("日本語だけ", "日本語だけ"),
        ("한국어 제목", "한국어-제목"),
        ("हिन्दी शीर्षक", "हिन्दी-शीर्षक"),
        ("Ελληνικά τίτλος", "ελληνικά-τίτλος"),
        ("…", "decision"),
    ],
)
def test_a_file_name_keeps_the_letters_of_a_title(title: str, name: str) -> None:
    assert slug(title) == name
