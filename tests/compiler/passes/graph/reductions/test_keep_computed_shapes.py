"""Results of reductions are kept in the shape in which they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ogive import Tensor

RANDOM = np.random.default_rng(11)


def data(*shape: int) -> NDArray[Any]:
    return RANDOM.integers(-9, 10, shape).astype(np.float32)


LEFT, RIGHT = data(12, 30), data(30, 24)
RESULTS = {
    "split": lambda x, y: (x @ y).reshape(12, 4, 6),
    "merged": lambda x, y: (x @ y).reshape(-1),
    "regrouped": lambda x, y: (x @ y).reshape(8, 36),
    "after more": lambda x, y: abs(x @ y + y[0]).reshape(3, 4, 24),
    "twice": lambda x, y: (x @ y).reshape(288).reshape(2, 144),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_reshaped_result_is_not_copied(name: str) -> None:
    result = RESULTS[name](Tensor(LEFT), Tensor(RIGHT))
    assert len(result.prepare().kernels) == 1
    np.testing.assert_array_equal(result.numpy(), RESULTS[name](LEFT, RIGHT))


def test_what_is_kept_on_the_way_is_not_copied_either() -> None:
    product = (Tensor(LEFT) @ Tensor(RIGHT)).reshape(3, 96).contiguous()
    result = product.T * 2
    assert len(result.prepare().kernels) == 2
    np.testing.assert_array_equal(result.numpy(), 2 * (LEFT @ RIGHT).reshape(3, 96).T)


def test_each_result_has_memory_of_its_own() -> None:
    product = Tensor(LEFT) @ Tensor(RIGHT)
    copies = [product.clone(), product.clone()]
    results = [copies[0].reshape(-1), product, copies[1].reshape(4, 72)]
    Tensor.realize_batch(results)
    results[0].assign(results[0] * 0).realize()
    np.testing.assert_array_equal(results[1].numpy(), LEFT @ RIGHT)
    np.testing.assert_array_equal(results[2].numpy(), (LEFT @ RIGHT).reshape(4, 72))
    assert not results[0].numpy().any()
