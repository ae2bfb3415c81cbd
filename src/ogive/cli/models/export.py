"""`ogive export`: an ONNX model as an object file and a header, for C programs."""

from __future__ import annotations

import re
from pathlib import Path

import ogive
from ogive.cli.doctor import Report
from ogive.cli.models.given_inputs import make_inputs
from ogive.cli.models.progress import showing_progress
from ogive.cli.screen import find_screen
from ogive.journal import show_bytes


def run(
    model: str,
    given: list[str],
    batch: int,
    sizes: list[str],
    output: str | None,
    cpu: str | None,
) -> int:
    """Write the files, and print the function that C programs call."""
    loaded = ogive.onnx.load(model)
    inputs = make_inputs(loaded, given, batch, sizes)
    path = Path(output) if output is not None else Path(model).with_suffix(".o")
    name = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    name = f"_{name}" if name[0].isdigit() else name
    with showing_progress():
        exported = loaded.export(inputs, path, name=name, cpu=cpu)
    screen = find_screen()
    report = Report(screen)
    report.section(f"{Path(model).name}, exported")
    report.fact("object", f"{exported.object_path}, {show_bytes(path.stat().st_size)}")
    report.fact("header", exported.header_path)
    report.fact("constants", show_bytes(exported.constant_bytes))
    report.fact("scratch", f"{show_bytes(exported.memory_bytes)} of memory, passed by the caller")
    screen.title("C declaration")
    screen.show(f"{exported.prototype};")
    return 0
