"""`python -m benchmarks`: measure Ogive against its peers on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import shapes
from benchmarks.calibration import measure_calibration
from benchmarks.compile import measure_compile
from benchmarks.gpu import measure_gpu
from benchmarks.graphs import measure_graphs
from benchmarks.libraries import PEERS
from benchmarks.memory import measure_memory
from benchmarks.programs import measure_programs
from benchmarks.ranks import measure_ranks
from benchmarks.report import render
from benchmarks.results import Results
from benchmarks.rows import ROWS, select
from benchmarks.runner import Settings, open_runner, share_limits
from benchmarks.search import measure_search
from benchmarks.sizes import measure_sizes
from benchmarks.startup import measure_startup
from benchmarks.steps import measure_steps
from benchmarks.threads import measure_threads
from benchmarks.training import measure_training


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "part",
        nargs="?",
        choices=["rows", "shapes", "compile", "steps", "training", "threads", "memory", "search",
                 "graphs", "calibration", "gpu", "programs", "sizes", "ranks"],
        default="rows",
        help="rows: the table against the peers (default); shapes: the same at random sizes; "
        "compile: Ogive's compile time; steps: what a step of a plan costs; training: graphs, "
        "first steps and later ones; threads: what threads gain, by size; memory: what attention "
        "takes; search: searched kernels beside others; graphs: what graph search "
        "gains; calibration: the cost model beside the "
        "clock; gpu: an NVIDIA GPU, beside PyTorch; programs: loops as people write them; "
        "sizes: models whose sizes change with every call; "
        "ranks: several processes, their exchanges and their steps",
    )
    parser.add_argument(
        "--rows",
        nargs="+",
        default=[],
        metavar="PATTERN",
        help="only rows with this in their name, or matching this glob",
    )
    parser.add_argument(
        "--peers",
        nargs="*",
        choices=PEERS,
        default=list(PEERS),
        metavar="NAME",
        help=f"the libraries beside ogive: {' '.join(PEERS)} (default: all)",
    )
    parser.add_argument(
        "--families",
        nargs="+",
        choices=shapes.FAMILIES,
        default=list(shapes.FAMILIES),
        metavar="NAME",
        help=f"the families of random sizes: {', '.join(shapes.FAMILIES)} (default: all)",
    )
    parser.add_argument(
        "--count",
        type=int,
        default=shapes.COUNT,
        help=f"random sizes a family (default {shapes.COUNT})",
    )
    parser.add_argument(
        "--before",
        metavar="FOLDER",
        help="another checkout of Ogive, measured beside this one (not by every part)",
    )
    parser.add_argument("--threads", type=int, default=2, help="for every library (default 2)")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="to measure each row in each library (default 1)"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=180.0,
        help="seconds after which a library is over its time in a row (default 180)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there")
    parser.add_argument(
        "--startup",
        action="store_true",
        help="measure imports and first results in new processes instead",
    )
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    return parser.parse_args(arguments)


def beside_limit(libraries: Sequence[str]) -> list[str]:
    """The limit next to Ogive, so that both see memory at the same moments."""
    return [libraries[0], "limit", *libraries[1:]]


def tell(text: str) -> None:
    """Progress, on the terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Measure what is asked, print the report, write the file."""
    options = parse(arguments)
    if options.list:
        print("\n".join(row.name for row in ROWS))
        return 0
    rows = select(options.rows)
    if not rows and options.part not in ("gpu", "sizes"):
        print(f"no row matches {' '.join(options.rows)}; --list names them", file=sys.stderr)
        return 2
    settings = Settings(
        options.threads, options.seconds, timeout=options.timeout, before=options.before
    )
    results = Results(asdict(settings))
    libraries = ["ogive", *(["before"] if options.before else []), *options.peers]
    if options.part == "compile":
        results.compile = measure_compile(settings)
    elif options.part == "steps":
        results.steps = measure_steps(settings)
    elif options.part == "training":
        results.training = measure_training(libraries, settings, tell)
    elif options.part == "shapes":
        with open_runner(libraries, settings) as runner:
            wanted = (options.families, options.count)
            results.shapes = shapes.measure_shapes(runner, *wanted, tell)
    elif options.part == "threads":
        results.threads = measure_threads(settings, tell)
    elif options.part == "memory":
        results.memory = measure_memory(settings)
    elif options.part == "search":
        results.search = measure_search(settings, tell)
    elif options.part == "graphs":
        results.graphs = measure_graphs(settings, tell)
    elif options.part == "calibration":
        results.calibration = measure_calibration(settings, tell)
    elif options.part == "gpu":
        results.gpu = measure_gpu(tell, options.rows)
    elif options.part == "programs":
        results.programs = measure_programs(tell)
    elif options.part == "sizes":
        results.sizes = measure_sizes(options.count, tell, options.rows)
    elif options.part == "ranks":
        results.ranks = measure_ranks(settings, tell)
    elif options.startup:
        results.startup = measure_startup(libraries, settings, tell)
    else:
        with open_runner(beside_limit(libraries), settings) as runner:
            results.rows += [runner.measure(row, tell) for row in rows]
        share_limits(results.rows)
        libraries.append("limit")
    tell("")
    print(render(results, libraries))
    if options.json:
        text = json.dumps(results.as_json(), indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
