"""Models of changing sizes, as the benchmark measures them."""

from __future__ import annotations

from benchmarks.sizes import models, sizes_lines


def test_models_take_inputs_of_their_sizes() -> None:
    import ogive.torch as library

    for _, model, shape, (least, _) in models(library):
        assert model(library.zeros(*shape(least))).shape[0] in (2, least)


def test_a_row_says_what_was_compiled_and_how_fast_it_is() -> None:
    row = {"sizes": 9, "compiled": 2, "after the second": 0, "mean": 0.934, "worst": 0.7}
    heads, lines = sizes_lines({"MLP": row})
    assert lines == [["MLP", "9", "2", "0", "0.93", "0.70"]]
    assert len(heads) == len(lines[0])
