"""Random tensor programs, run by Ogive and by NumPy side by side.

A program is a list of instructions that can be run again, in part too, so that a failing one can be
cut down to the few that matter (`python -m tests.hunt --only expressions --seed SEED`).
"""

from tests.random_programs.generator import config_for, generate
from tests.random_programs.kinds import ASSIGNMENTS
from tests.random_programs.running import EFFECTS, apply, compare, perform, run
from tests.random_programs.values import Instruction, Program, Unsuitable, Value, make_input

__all__ = [
    "ASSIGNMENTS", "EFFECTS", "Instruction", "Program", "Unsuitable", "Value", "apply", "compare",
    "config_for", "generate", "make_input", "perform", "run",
]  # fmt: skip
