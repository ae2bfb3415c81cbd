"""What rounding decides is told apart from what is wrong."""

from __future__ import annotations

import torch as pytorch

from tests.hunt.makers import line_failure
from tests.hunt.rounding import spreads
from tests.line_programs import difference


def run(text: str) -> list[object]:
    names = {"torch": pytorch, "shown": []}
    exec(text, names)
    return list(names["shown"])


def test_rounded_numbers_spread_by_roundings() -> None:
    (found,) = spreads(lambda: run("x = torch.linspace(0.1, 1, 5); shown = [(x * 3).numpy()]"))
    assert found is not None
    assert 0 < found.max() < 1e-5


def test_whole_numbers_that_are_exact_do_not_spread() -> None:
    text = "x = torch.arange(6.).reshape(2, 3); shown = [(x @ x.T).numpy(), (x.sum(0) % 3).numpy()]"
    assert all(each is not None and not each.any() for each in spreads(lambda: run(text)))


def test_a_jump_may_be_taken_or_not() -> None:
    x = "torch.full((3,), 0.1, dtype=torch.float64)"
    text = f"shown = [({x}.sum() / 0.3).floor().numpy()]"
    (found,) = spreads(lambda: run(text))
    assert found is not None
    assert found.max() >= 1


def test_a_shape_that_rounding_decides_may_be_any() -> None:
    text = "x = torch.tensor([.1, .2, .3]); shown = [(x.sum() - 0.6).reshape(1).nonzero().numpy()]"
    assert spreads(lambda: run(text)) == [None]


def test_what_is_wrong_by_more_than_rounding_is_found() -> None:
    lines = ["y = floats(1, 8) * (1.1 if torch.__name__ == 'torch' else 1.2)", "check(y)"]
    assert difference(lines) is not None
    assert line_failure(lines) is not None


def test_a_jump_is_no_failure() -> None:
    # PyTorch's sum in float32 is a rounding beside the one that `ogive` gives, or the same.
    slip = "(0. if torch.__name__ == 'torch' else 1e-7)"
    lines = ["x = torch.tensor([0.1, 0.2, 0.3])", f"check(((x.sum() + {slip}) / 0.6).floor())"]
    assert line_failure(lines) is None
