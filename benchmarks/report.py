"""The tables that a run prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.gpu import gpu_lines
from benchmarks.graphs import graphs_tables
from benchmarks.programs import programs_lines
from benchmarks.ranks import ranks_tables
from benchmarks.results import Results, RowResult
from benchmarks.runner import DISTURBED
from benchmarks.shapes import summarize
from benchmarks.sizes import sizes_lines
from benchmarks.steps import LONG, SHORT
from benchmarks.targets import judge
from benchmarks.threads import gain, slower

BESIDE = ("before", "limit")  # whom each row is held against besides the peers
SHOWN = 40  # rows in which a peer is ahead


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Columns of text: the first to the left, the others to the right."""
    every = [header, *lines]
    widths = [max(len(line[column]) for line in every) for column in range(len(header))]

    def line_of(cells: Sequence[str]) -> str:
        first, *rest = zip(cells, widths, strict=True)
        parts = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
        return "  ".join(parts).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line_of(header), rule, *map(line_of, lines)])


def milliseconds(seconds: float | None) -> str:
    """Three digits of a time in ms; a dash for none."""
    if seconds is None:
        return "–"
    value = seconds * 1e3
    return f"{value:.0f}" if value >= 99.95 else f"{value:.3g}" if value >= 0.01 else f"{value:.4f}"


def ratio_text(ratio: float | None) -> str:
    """Two decimals, or a dash."""
    return "–" if ratio is None else f"{ratio:.2f}"


class Notes:
    """Numbered remarks below a table, equal ones once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def mark(self, text: str) -> str:
        """The number of a remark, in brackets."""
        return f"[{self.numbers.setdefault(text, len(self.numbers) + 1)}]"

    def lines(self) -> list[str]:
        """The remarks, in the order of their numbers."""
        return [f"  [{number}] {text}" for text, number in self.numbers.items()]


def times_table(rows: Sequence[RowResult], libraries: Sequence[str]) -> str:
    """Best time in ms by library, the best peer's time over Ogive's, and over the limit."""
    notes = Notes()
    lines = []
    for row in rows:
        cells = [cell_text(row, library, notes) for library in libraries]
        lines.append([row.name, *cells, *map(ratio_text, ratios(row, libraries))])
    header = ["ms, best", *libraries, *ratio_names(libraries)]
    text = table(header, lines)
    warning = ["  ~ disturbed: other processes computed all the while"] if "~" in text else []
    return "\n".join([text, *warning, *notes.lines()])


def cell_text(row: RowResult, library: str, notes: Notes) -> str:
    """A time, or what is wrong and the number of its note."""
    cell = row.cells.get(library)
    if cell is None or (library == "limit" and cell.status == "not there"):
        return "–"
    if cell.status == "ok":
        disturbed = cell.others is not None and cell.others > DISTURBED
        return ("~" if disturbed else "") + milliseconds(cell.best)
    if cell.status == "over":
        return f"over {cell.reason}"
    return f"{cell.status} {notes.mark(complaint(library, cell.status, cell.reason))}"


def complaint(who: str, status: str, reason: str) -> str:
    """Why there is no time, or none to trust; what Ogive lacks, it lacks only yet."""
    words = {
        "not there": "not there yet" if who == "ogive" else "not there",
        "wrong": "wrong result",
    }
    return f"{who}: {words.get(status, status)}: {reason}"


def ratios(row: RowResult, libraries: Sequence[str]) -> list[float | None]:
    """The numbers under `ratio_names`."""
    shares = [row.share(name) for name in BESIDE if name in libraries]
    return [row.ratio("best"), row.ratio("median"), *shares]


def ratio_names(libraries: Sequence[str]) -> list[str]:
    """Peer over Ogive by the best and by the medians; another checkout and the limit over it."""
    shares = [f"{name} ÷ ogive" for name in BESIDE if name in libraries]
    return ["peer ÷ ogive", "of medians", *shares]


def spread_lines(rows: Sequence[RowResult]) -> tuple[list[str], list[list[str]]]:
    """Header and lines of the table of families at random sizes."""
    header = ["peer ÷ ogive", "rows", "mean", "behind", "worst", "which", "first result, ms"]
    lines = [
        [
            spread.family,
            str(spread.count),
            ratio_text(spread.mean),
            f"{spread.behind:.0%}",
            ratio_text(spread.worst),
            spread.worst_row,
            milliseconds(spread.compile),
        ]
        for spread in summarize(rows)
    ]
    return header, lines


def slowest(rows: Sequence[RowResult]) -> list[str]:
    """The rows in which a peer is furthest ahead, and those with something wrong."""
    behind = [row for row in rows if (ratio := row.ratio()) is not None and ratio < 0.8]
    behind.sort(key=lambda row: row.ratio() or 0.0)
    bad = ("wrong", "failed")
    wrong = [row for row in rows if any(cell.status in bad for cell in row.cells.values())]
    shown = list({row.name: row for row in [*behind[:SHOWN], *wrong]}.values())
    return [times_table(shown, list(shown[0].cells))] if shown else []


def breakdown_lines(reports: dict[str, dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Kernels and compile time by stage, a line a report: totals, then median and p95 of all."""
    stages: dict[str, None] = {}
    for report in reports.values():
        stages.update(dict.fromkeys(report.get("stages", {})))
    stages.pop("all", None)
    header = ["compile, ms", "kernels", "unique", *stages, "all", "median", "p95"]
    lines = []
    for name, report in reports.items():
        spreads = report.get("stages", {})
        every = spreads.get("all", {})
        totals = [milliseconds(spreads.get(stage, {}).get("total")) for stage in (*stages, "all")]
        tail = [milliseconds(every.get(key)) for key in ("median", "p95")]
        lines.append([name, str(report["kernels"]), str(report["unique"]), *totals, *tail])
    return header, lines


def compile_reports(
    rows: Sequence[RowResult], library: str = "ogive"
) -> dict[str, dict[str, Any]]:
    """What Ogive, or another checkout of it, says of its compiling, by the row's name."""
    cells = {row.name: row.cells.get(library) for row in rows}
    return {name: cell.compile for name, cell in cells.items() if cell and cell.compile}


def compile_before_lines(rows: Sequence[RowResult]) -> tuple[list[str], list[list[str]]]:
    """Kernels compiled and the time to compile one, of another checkout and of this one.

    Where all their kernels have the same code, a difference of run time is none of theirs.
    """
    earlier, now = compile_reports(rows, "before"), compile_reports(rows)
    both = [name for name in now if name in earlier and earlier[name]["timed"]]
    lines = []
    for line, names in [*[(name, [name]) for name in both], ("all rows", both)]:
        count, seconds = sum_up([earlier[name] for name in names])
        own_count, own_seconds = sum_up([now[name] for name in names])
        times = (seconds / count, own_seconds / own_count)
        ratio = ratio_text(times[0] / times[1])
        same = all(earlier[name]["codes"] == now[name]["codes"] for name in names)
        counts = [str(count), str(own_count), "yes" if same else "no"]
        lines.append([line, *counts, *map(milliseconds, times), ratio])
    columns = ["kernels before", "now", "same code", "before", "now", "before ÷ now"]
    header = ["compile, ms a kernel", *columns]
    return header, lines


def sum_up(reports: Sequence[dict[str, Any]]) -> tuple[int, float]:
    """How many kernels were compiled, and the seconds that all their passes took."""
    totals = [each["stages"]["all"]["total"] for each in reports]
    return sum(each["timed"] for each in reports), sum(totals)


def compile_text(reports: dict[str, Any]) -> str:
    """What `python -m benchmarks compile` prints."""
    parts = []
    good = {}
    for layers, report in reports.items():
        name = f"{layers} block{'s' if layers != '1' else ''}"
        if report["status"] == "ok":
            good[name] = report
        else:
            parts.append(complaint("ogive", report["status"], f"{name}: {report['reason']}"))
    if good:
        parts.append(table(*breakdown_lines(good)))
        parts.extend(pass_table(name, report) for name, report in good.items())
        parts.append(graph_pass_table(good))
        phases = ("capture", "prepare", "execute")
        lines = [
            [name, *(milliseconds(report[phase]) for phase in phases)]
            for name, report in good.items()
        ]
        parts.append(table(["whole, ms", *phases], lines))
    return "\n\n".join(parts)


def pass_table(name: str, report: dict[str, Any]) -> str:
    """Median, 95th percentile and total of each pass, per unique kernel."""
    keys = ("median", "p95", "total")
    lines = [
        [each, *(milliseconds(values[key]) for key in keys)]
        for each, values in report["passes"].items()
    ]
    return table([f"{name}, ms a unique kernel", *keys], lines)


def graph_pass_table(reports: dict[str, dict[str, Any]]) -> str:
    """How long each pass over the whole graph took, a column a report."""
    names = dict.fromkeys([name for each in reports.values() for name in each["graph_passes"]])
    lines = [
        [name, *(milliseconds(each["graph_passes"].get(name)) for each in reports.values())]
        for name in names
    ]
    return table(["passes over the graph, ms", *reports], lines)


def steps_text(reports: dict[str, Any]) -> str:
    """What `python -m benchmarks steps` prints."""
    lines = []
    notes = Notes()
    for library, report in reports.items():
        if report["status"] == "ok":
            times = [f"{1e6 * report[str(count)]:.2f}" for count in (SHORT, LONG)]
            slope = 1e6 * (report[str(LONG)] - report[str(SHORT)]) / (LONG - SHORT)
            lines.append([library, *times, f"{slope:.4f}"])
        else:
            mark = notes.mark(complaint(library, report["status"], report["reason"]))
            lines.append([library, f"{report['status']} {mark}", "", ""])
    header = ["kernels that cannot fuse, µs", f"{SHORT}", f"{LONG}", "one more, with its kernel"]
    return "\n".join([table(header, lines), *notes.lines()])


def threads_lines(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and lines of the table of threads."""
    counts = list(next(iter(report["rows"].values())))
    lines = []
    for size, cells in report["add"].items():
        times = [f"{1e6 * cells[count]['best']:.2f}" for count in counts]
        lines.append([f"add {size}", *times, cells[counts[-1]]["threads"], slower(cells)])
    for name, cells in report["rows"].items():
        times = [f"{1e6 * cells[count]['best']:.0f}" for count in counts]
        lines.append([name, *times, cells[counts[-1]]["threads"], gain(cells, counts[-1])])
    texts = [[*line[:-2], str(line[-2]), f"{line[-1]:.2f}"] for line in lines]
    return ["µs by threads, best", *counts, "threads used", "slower / gain"], texts


def threads_text(report: dict[str, Any]) -> str:
    """What `python -m benchmarks threads` prints."""
    differing = [name for name, same in report["bits"].items() if not same]
    bits = f"not the same bits: {', '.join(differing)}" if differing else "the same bits everywhere"
    took = report["measured"]
    speeds = "the machine was too busy to measure" if took is None else f"measured in {took:.2f} s"
    return f"{table(*threads_lines(report))}\n\n{bits}; {speeds}"


def calibration_lines(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and line of how the cost model agrees with the clock."""
    header = ["schedules", "correlation of ranks", "worst factor", "factor of 95 in 100"]
    line = [
        str(report["schedules"]),
        f"{report['rank_correlation']:.3f}",
        f"{report['worst_factor']:.1f}",
        f"{report['factor_95']:.1f}",
    ]
    return header, [line]


def search_lines(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and lines of the table of searched kernels."""
    places = ("heuristics", "search")
    lines = [
        [
            name,
            *[milliseconds(cells[place]) for place in places],
            ratio_text(cells["heuristics"] / cells["search"]),
        ]
        for name, cells in report.items()
    ]
    return ["placed by, ms", *places, "gain"], lines


def promises_table(results: Results) -> str:
    """Which promises this run kept."""
    words = {True: "kept", False: "NOT KEPT", None: "–"}
    lines = [[j.promise, j.measured, words[j.holds]] for j in judge(results)]
    return table(["promise", "measured", ""], lines)


def render(results: Results, libraries: Sequence[str]) -> str:
    """The whole report."""
    machine = results.machine
    versions = ", ".join(f"{name} {number}" for name, number in results.versions.items())
    parts = [
        f"{results.date}  {machine['processor']}, {results.settings['threads']} threads, "
        f"load {machine['load']:.1f}\n{versions}"
    ]
    if results.rows:
        parts.append(times_table(results.rows, libraries))
        if reports := compile_reports(results.rows):
            parts.append(table(*breakdown_lines(reports)))
        if "before" in libraries:
            parts.append(table(*compile_before_lines(results.rows)))
    for rows in (results.startup, results.training):
        if rows:
            found = {library for row in rows for library in row.cells}
            parts.append(times_table(rows, [name for name in libraries if name in found]))
    if results.shapes:
        parts.append(table(*spread_lines(results.shapes)))
        parts.extend(slowest(results.shapes))
    if results.compile:
        parts.append(compile_text(results.compile))
    if results.steps:
        parts.append(steps_text(results.steps))
    if results.threads:
        parts.append(threads_text(results.threads))
    if results.calibration:
        parts.append(table(*calibration_lines(results.calibration)))
    if results.search:
        parts.append(table(*search_lines(results.search)))
    if results.graphs:
        parts += [table(*each) for each in graphs_tables(results.graphs)]
    if results.gpu:
        parts.append(table(*gpu_lines(results.gpu)))
    if results.programs:
        parts.append(table(*programs_lines(results.programs)))
    if results.sizes:
        parts.append(table(*sizes_lines(results.sizes)))
    if results.ranks:
        parts += [table(*each) for each in ranks_tables(results.ranks)]
    parts.append(promises_table(results))
    return "\n\n".join(parts)
