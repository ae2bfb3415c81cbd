"""The cipher gives the published words, in kernels and on the host."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from ogive import Config, Tensor
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import VerifyError
from ogive.random.cipher import encipher, encipher_on_host
from ogive.tensor.core import wrap
from tests.raising import raises

KNOWN_ANSWERS = [
    # counter, key, result; the vectors of Random123 for threefry2x32 with 20 rounds.
    ("00000000 00000000", "00000000 00000000", "6b200159 99ba4efe"),
    ("ffffffff ffffffff", "ffffffff ffffffff", "1cb996fc bb002be7"),
    ("243f6a88 85a308d3", "13198a2e 03707344", "c4923a9c 483df7a0"),
]


def word(text: str) -> int:
    """Two words as one: the first is the low half."""
    low, high = text.split()
    return int(high + low, 16)


def words(values: list[int]) -> Any:
    return numpy.array(values, dtype=numpy.uint64)


COUNTERS, KEYS, RESULTS = [words([word(row[at]) for row in KNOWN_ANSWERS]) for at in range(3)]


def enciphered(counters: Any, keys: Any) -> Tensor:
    left, right = Tensor(counters), Tensor(keys)
    with graph_lock:
        return wrap(encipher(left.node, right.node), "CPU")


def test_kernels_give_the_known_answers() -> None:
    assert enciphered(COUNTERS, KEYS).tolist() == RESULTS.tolist()


def test_scalar_code_gives_the_known_answers() -> None:
    made = enciphered(COUNTERS, KEYS).realize(Config(vectorize=False))
    assert made.tolist() == RESULTS.tolist()


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN_ANSWERS)
def test_the_host_gives_the_known_answers(counter: str, key: str, result: str) -> None:
    assert encipher_on_host(words([word(counter)]), word(key)).tolist() == [word(result)]


def test_kernels_and_host_agree() -> None:
    random = numpy.random.default_rng(0)
    counters = random.integers(0, 1 << 64, 1001, dtype=numpy.uint64)
    key = int(random.integers(0, 1 << 64, dtype=numpy.uint64))
    made = enciphered(counters, numpy.full(1001, key, dtype=numpy.uint64))
    assert (made.numpy() == encipher_on_host(counters, key)).all()


def test_the_verifier_wants_words_of_64_bits() -> None:
    with graph_lock:
        wrong = make(Op.THREEFRY, dtypes.int32, (UOp.const(dtypes.int32, 1),) * 2)
    with raises(VerifyError, match=r"THREEFRY .* expected uint64"):
        verify(wrong, "tensor")
