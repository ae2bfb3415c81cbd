"""Chains of movement over symbolic sizes, compiled once and run with many sizes.

A program is a tensor whose lengths are variables, a chain of moves, and some consumers of what they
give, with the gradient of all of them. One compiled form serves every size, so a case costs no
compilation: it is one consumer at one choice of sizes, compared with what PyTorch gives in float64
for a tensor of those sizes. What is tested are index arithmetic over variables, guards, and what
vectors and tiles leave over.

Left out: moves and consumers that Ogive refuses for symbolic shapes, in so many words. Those are
drawn again.
"""

from tests.symbolic_chains.programs import Program, draw_program
from tests.symbolic_chains.running import Outcome, run_program

__all__ = ["Outcome", "Program", "draw_program", "run_program"]
