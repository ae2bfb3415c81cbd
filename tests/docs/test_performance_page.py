"""The results on the performance page are generated from what the benchmarks wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.markdown import BEGIN, END, insert, load, main, render, table
from benchmarks.results import Cell, Results, RowResult
from tests.docs.markdown import ROOT
from tests.raising import raises


def results() -> Results:
    rows = [
        RowResult(
            "sum, 16M",
            {
                "ogive": Cell.measured([1e-3, 2e-3]),
                "jax": Cell.measured([3e-3, 4e-3]),
                "tinygrad": Cell("not there", "no clang"),
                "limit": Cell.measured([5e-4]),
            },
        )
    ]
    return Results({"threads": 2}, rows=rows)


def test_a_file_reads_back_as_it_was_written(tmp_path: Path) -> None:
    written = results()
    (tmp_path / "rows.json").write_text(json.dumps(written.as_json()))
    assert load(tmp_path / "rows.json") == written


def test_a_run_becomes_tables_with_ratios_and_notes() -> None:
    text = render(results())
    (line,) = [line for line in text.splitlines() if line.startswith("| sum")]
    assert line == "| sum, 16M | 1 | 3 | not there [1] | 0.5 | 3.00 | 2.33 | 0.50 |"
    assert "- [1] tinygrad: not there: no clang" in text


def test_cells_cannot_break_the_table() -> None:
    assert table(["a|b"], [["c"]]) == "| a\\|b |\n| --- |\n| c |"


def test_results_replace_what_stands_between_the_marks() -> None:
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert insert(page, "new") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"


@pytest.mark.parametrize("page", ["nothing", f"{END} {BEGIN}"])
def test_a_page_without_marks_is_refused(page: str) -> None:
    with raises(ValueError, match="the page needs a line"):
        insert(page, "new")


def test_the_command_fills_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text((ROOT / "docs/performance.md").read_text())
    (tmp_path / "rows.json").write_text(json.dumps(results().as_json()))
    assert main([str(tmp_path / "rows.json"), "--into", str(page)]) == 0
    assert "| sum, 16M |" in page.read_text()
