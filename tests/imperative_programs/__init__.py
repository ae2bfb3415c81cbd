"""Imperative programs, run by PyTorch and by Ogive side by side.

A program is a list of statements in Python, which both libraries understand: views of views,
updates in place through any of them, gradients in between, captured functions, modules,
optimizers. Being text, it can be cut down by leaving lines out, and pasted into a report.

What is left out, because the libraries differ there on purpose:

- Results of operations on transposed memory. PyTorch lays them out as their operands are, and so
  `(x.T + 1).reshape(-1)` is a copy there; `own` gives them row-major memory, as they have in Ogive.
- Operands that overlap what is written. PyTorch refuses some and computes others in the order of
  memory; `old` copies them there first. In Ogive they are always read before the write.
- Writing to `real`, `imag`, and to windows (`unfold`): Ogive refuses it, in so many words.
- Values that change between a computation and its gradient by way of `data`. PyTorch does not
  notice and takes the new ones, which is wrong; `noticed` makes it refuse. Ogive takes the old.
- Gradients through what captured functions return: there are none.
- What PyTorch refuses. Statements that it raises for are not part of a program.
"""

from tests.imperative_programs.maker import generate
from tests.imperative_programs.running import Difference, run

__all__ = ["Difference", "generate", "run"]
