"""Models of changing sizes, as the benchmark measures them."""

from __future__ import annotations

import pytest

from benchmarks.size_models import FAMILIES, MODELS
from benchmarks.size_programs import GENERATED, Programs
from benchmarks.sizes import random_sizes, sizes_lines
from benchmarks.token_model import TOKENS, token_model


@pytest.mark.parametrize("name", [*MODELS, *FAMILIES])
def test_programs_take_inputs_of_their_sizes(name: str) -> None:
    request = {"program": name, "captured": False, "calls": 1}
    program = (MODELS | FAMILIES)[name]
    reply = Programs("torch").answer({**request, "size": program.least})
    assert reply["seconds"] > 0 and reply["made"] == 0


def test_ours_say_what_was_compiled() -> None:
    programs = Programs("ogive")
    request = {"program": "softmax, rows", "captured": True, "calls": 2}
    made = [programs.answer({**request, "size": size})["made"] for size in (21, 34, 55)]
    assert made[2] == 0


def test_texts_are_of_one_length() -> None:
    import torch

    import ogive.torch as ours

    theirs, own = token_model(torch), token_model(ours)
    assert len(theirs(1)) == len(own(1)) == TOKENS
    assert Programs("torch").answer({"program": GENERATED, "size": 1})["seconds"] > 0


def test_sizes_are_within_bounds_and_differ() -> None:
    program = MODELS["MLP 256-1024-1024-10, rows"]
    sizes = random_sizes(program, 100)
    assert len(set(sizes)) == len(sizes) > 50
    assert program.least <= min(sizes) and max(sizes) <= program.greatest


def test_a_row_says_what_was_compiled_and_how_fast_it_is() -> None:
    row = {"sizes": 9, "compiled": 2, "after the second": 0, "mean": 0.934, "worst": 0.7}
    heads, lines = sizes_lines({"MLP": row})
    assert lines == [["MLP", "9", "2", "0", "–", "0.93", "0.70"]]
    assert len(heads) == len(lines[0])
