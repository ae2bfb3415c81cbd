"""`python -m benchmarks.markdown FILE...`: the results of runs as Markdown tables.

With `--into PAGE`, the tables replace what stands between the page's two marks.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.gpu import gpu_lines
from benchmarks.programs import programs_lines
from benchmarks.ranks import ranks_tables
from benchmarks.report import (
    BESIDE,
    Notes,
    breakdown_lines,
    cell_text,
    compile_reports,
    milliseconds,
    ratio_names,
    ratio_text,
    ratios,
    search_lines,
    spread_lines,
    threads_lines,
)
from benchmarks.results import Cell, Results, RowResult
from benchmarks.targets import judge

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
ORDER = ("ogive", "torch", "torch.compile", "jax", "numpy", "tinygrad")


def load(path: Path) -> Results:
    """The results that `python -m benchmarks --json` wrote."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Results(
        data["settings"],
        date=data["date"],
        machine=data["machine"],
        versions=data["versions"],
        rows=_rows(data["rows"]),
        startup=_rows(data["startup"]),
        training=_rows(data.get("training", [])),
        shapes=_rows(data.get("shapes", [])),
        compile=data["compile"],
        steps=data["steps"],
        threads=data.get("threads", {}),
        memory=data.get("memory", {}),
        search=data.get("search", {}),
        gpu=data.get("gpu", {}),
        programs=data.get("programs", {}),
        ranks=data.get("ranks", {}),
    )


def _rows(entries: list[dict[str, Any]]) -> list[RowResult]:
    return [
        RowResult(
            entry["name"], {library: Cell(**cell) for library, cell in entry["cells"].items()}
        )
        for entry in entries
    ]


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table: the first column to the left, the others to the right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(_escape(cells))} |" for cells in (header, rule, *lines))


def _escape(cells: Sequence[str]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in cells]


def render(results: Results) -> str:
    """One run: what was measured where, then its tables."""
    machine, settings = results.machine, results.settings
    versions = ", ".join(f"{name} {number}" for name, number in results.versions.items())
    parts = [
        f"{results.date[:10]}, {machine['processor']}, {settings['threads']} threads, "
        f"Python {machine['python']}; {versions}."
    ]
    parts += [_times(rows) for rows in (results.rows, results.startup, results.training) if rows]
    if reports := compile_reports(results.rows):
        parts.append(table(*breakdown_lines(reports)))
    if results.shapes:
        parts.append(table(*spread_lines(results.shapes)))
    if results.compile:
        parts.append(_compile(results.compile))
    if results.threads:
        parts.append(table(*threads_lines(results.threads)))
    if results.search:
        parts.append(table(*search_lines(results.search)))
    if results.gpu:
        parts.append(table(*gpu_lines(results.gpu)))
    if results.programs:
        parts.append(table(*programs_lines(results.programs)))
    if results.ranks:
        parts += [table(*each) for each in ranks_tables(results.ranks)]
    judged = [j for j in judge(results) if j.holds is not None]
    if judged:
        lines = [[j.promise, j.measured, "kept" if j.holds else "**not kept**"] for j in judged]
        parts.append(table(["promise", "measured", ""], lines))
    return "\n\n".join(parts)


def _times(rows: Sequence[RowResult]) -> str:
    found = {library for row in rows for library in row.cells}
    libraries = [name for name in ORDER if name in found]
    libraries += sorted(found.difference(ORDER, BESIDE))
    libraries += [name for name in BESIDE if name in found]
    notes = Notes()
    lines = []
    for row in rows:
        cells = [cell_text(row, library, notes) for library in libraries]
        lines.append([row.name, *cells, *map(ratio_text, ratios(row, libraries))])
    text = table(["ms, best", *libraries, *ratio_names(libraries)], lines)
    remarks = [f"- {line.strip()}" for line in notes.lines()]
    return "\n\n".join([text, "\n".join(remarks)] if remarks else [text])


def _compile(reports: dict[str, Any]) -> str:
    lines = []
    for layers, report in reports.items():
        if report["status"] != "ok":
            lines.append([layers, report["status"], *["–"] * 5])
            continue
        every = report["stages"].get("all", {})
        lines.append(
            [
                layers,
                str(report["kernels"]),
                str(report["unique"]),
                *[milliseconds(every.get(key)) for key in ("median", "p95", "total")],
                milliseconds(report["prepare"]),
            ]
        )
    header = ["transformer blocks", "kernels", "unique", "median, ms", "p95", "total", "prepare"]
    return table(header, lines)


def insert(page: str, text: str) -> str:
    """`page` with `text` between its marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs a line {BEGIN} and, after it, a line {END}")
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main(arguments: Sequence[str]) -> int:
    """Read the files, write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.markdown", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="written by --json")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="replace the results there")
    options = parser.parse_args(arguments)
    text = "\n\n".join(render(load(path)) for path in options.files)
    if options.into:
        page = options.into.read_text(encoding="utf-8")
        options.into.write_text(insert(page, text), encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
