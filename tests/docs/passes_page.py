"""docs/passes.md, made from the table of passes: `python -m tests.docs.passes_page` writes it."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.devices.llvm.compile_region import EMIT_PASSES
from ogive.compiler.passes.pipeline.capture_passes import CAPTURE_PASSES
from ogive.compiler.passes.pipeline.graph_passes import GRAPH_PASSES
from ogive.compiler.passes.pipeline.pass_runner import Dialect, Pass
from ogive.compiler.passes.pipeline.region_passes import REGION_PASSES
from tests.docs.markdown import ROOT

PAGE = ROOT / "docs/passes.md"
ALL_PASSES = (*CAPTURE_PASSES, *GRAPH_PASSES, *REGION_PASSES, *EMIT_PASSES)
INTRODUCTION = """\
# Passes

This page lists every pass of the compiler, in the order in which they run.
`python -m tests.docs.passes_page` generates it from the tables that the compiler runs
(`passes/pipeline/`), and a test keeps it up to date.

A pass is a function in a module of the same name. Its arguments are a value in the dialect that it
takes and the values that it reads. It returns a value in the dialect that it gives, and
`OGIVE_VERIFY=1` checks the result against that dialect.

`record_passes` shows what the passes do to a computation of yours, before and after, as text:

```python
import ogive
from ogive.compiler.engine.record_passes import record_passes

steps = record_passes((ogive.rand(64, 64) @ ogive.rand(64, 64)).softmax(-1))
(cut, *_) = [step for step in steps if step.ran.name == "rangeify"]
before, after = cut.show()
assert "RESHAPE" in before and "RANGE" in after and cut.seconds > 0
```

`ogive stages --pass rangeify` shows the same for an example.
"""
CHAPTERS: tuple[tuple[str, Sequence[Pass]], ...] = (
    ("For every graph", CAPTURE_PASSES),
    ("For every new graph", GRAPH_PASSES),
    ("For every new kernel, on any device", REGION_PASSES),
    ("For every new kernel, under LLVM", EMIT_PASSES),
)


def render() -> str:
    """The whole page."""
    chapters = [f"## {title}\n\n{_pass_table(passes)}" for title, passes in CHAPTERS]
    dialects = f"## Dialects\n\n{_dialect_table(ALL_PASSES)}"
    return "\n\n".join([INTRODUCTION.rstrip(), *chapters, dialects]) + "\n"


def _pass_table(passes: Sequence[Pass]) -> str:
    lines = ["| pass | from → to | before → after | reads | runs |", "|---|---|---|---|---|"]
    for each in passes:
        dialects = f"{each.takes.name} → {each.gives.name}"
        reads = ", ".join([f"`{name}`" for name in each.reads])
        runs = "always" if each.when is None else f"if {each.when.words}"
        shows = f"`{each.shows}`".replace("|", "\\|").replace(" → ", "` → `")
        name = f"{_folder(each)}**{each.name}**"
        lines.append(f"| {name} | {dialects} | {shows} | {reads} | {runs} |")
    return "\n".join(lines)


def _folder(each: Pass) -> str:
    parts = each.function.__module__.removeprefix("ogive.compiler.").split(".")[:-1]
    return "/".join([*parts, ""])


def _dialect_table(passes: Sequence[Pass]) -> str:
    dialects: dict[str, Dialect] = {}
    for each in passes:
        dialects |= {each.takes.name: each.takes, each.gives.name: each.gives}
    lines = ["| dialect | what it is |", "|---|---|"]
    lines += [f"| {dialect.name} | {dialect.meaning} |" for dialect in dialects.values()]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
