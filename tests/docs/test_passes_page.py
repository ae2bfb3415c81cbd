"""The page of passes says what the tables say."""

from __future__ import annotations

from tests.docs.passes_page import PAGE, render


def test_the_page_is_what_the_tables_make_of_it() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "python -m tests.docs.passes_page"
