"""Random chains of movement before every kind of consumer, by Ogive, the reference and PyTorch.

Where a value comes from is where a compiler goes wrong: an axis that is two merged ones, a row that
is read backwards or twice, a part of a padded one. So a case is a chain of moves, and one consumer
of what they give, or the gradient of it. PyTorch computes the same in float64, from the same calls:
each move and each consumer is one function for both. The device `REFERENCE` rounds where the CPU
does, and must come much closer (`python -m tests.hunt --only chains` runs many).
"""

from tests.movement_chains.cases import Case, draw_case
from tests.movement_chains.running import Difference, run_cases

__all__ = ["Case", "Difference", "draw_case", "run_cases"]
