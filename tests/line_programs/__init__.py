"""Programs as lines of text, run with `torch` standing for PyTorch and for `ogive.torch`.

Lines are drawn from templates with holes, sloppily: PyTorch itself says which of them stand. So a
template may be any call, without a word on shapes and dtypes, and a program that fails is read,
shortened and repeated as it is (`python -m tests.hunt --only lines --seed SEED`).

Left out, since PyTorch's answer is its own (docs/correctness.md): negative numbers beside uint8,
which it wraps; writing to memory from memory that overlaps it, where it writes before it has read;
`einsum` of several dtypes and sums of bools without elements, where it looks at no dtype.
"""

from tests.line_programs.drawing import draw_lines, draw_writes
from tests.line_programs.indices import draw_indices
from tests.line_programs.loops_of_sizes import draw_captured_loop, draw_loop
from tests.line_programs.running import count_computed, difference, run
from tests.line_programs.training import draw_training

MAKERS = {
    "lines": draw_lines,
    "writes": draw_writes,
    "loops": draw_loop,
    "captured loops": draw_captured_loop,
    "training": draw_training,
    "indices": draw_indices,
}

__all__ = ["MAKERS", "count_computed", "difference", "run"]
