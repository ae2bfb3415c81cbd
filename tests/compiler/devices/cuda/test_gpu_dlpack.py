"""Memory of GPUs is shared with other libraries by DLPack, without a copy."""

from __future__ import annotations

import numpy as np

import ogive
from ogive import Tensor
from ogive.compiler.live import registry
from ogive.errors import InterchangeError
from ogive.tensor.creation import user_data
from tests.raising import raises


def address_of(tensor: Tensor) -> int:
    with registry.graph_lock:
        memory = user_data.memory_of(tensor.node)
    assert memory is not None
    return memory.address


class Producer:
    """Another library's array: what one of our tensors gives."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.streams: list[object] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, *, stream: object = None, **given: object) -> object:
        self.streams.append(stream)
        return self.tensor.__dlpack__(stream=stream, **given)  # type: ignore[arg-type]


def test_memory_of_a_gpu_comes_back_as_the_same_memory(gpu: str) -> None:
    x = (ogive.arange(12, dtype=ogive.float32, device=gpu).reshape(3, 4) + 1).realize()
    producer = Producer(x)
    y = ogive.from_dlpack(producer)
    assert y.device == gpu and producer.streams == [1]
    assert address_of(y) == address_of(x)
    assert (y * 2).tolist() == (x * 2).tolist()


def test_a_consumer_is_told_which_gpu_it_is(gpu: str) -> None:
    x = ogive.ones(3, dtype=ogive.bfloat16, device=gpu).realize()
    assert x.__dlpack_device__() == (2, x.get_device())
    with raises(InterchangeError, match=f"the tensor is on {gpu}"):
        x.__dlpack__(dl_device=(1, 0))


def test_what_was_lent_is_not_written_to(gpu: str) -> None:
    x = ogive.zeros(3, device=gpu).realize()
    y = ogive.from_dlpack(Producer(x))
    x += 1
    assert x.tolist() == [1, 1, 1] and y.tolist() == [0, 0, 0]


def test_what_a_plan_writes_over_is_lent_as_a_copy(gpu: str) -> None:
    x = Tensor(np.arange(6, dtype=np.float32), device=gpu)
    y = x + 1
    plan = y.prepare()
    plan.execute()
    lent = ogive.from_dlpack(Producer(y))
    assert address_of(lent) != address_of(y)
    assert lent.tolist() == [1, 2, 3, 4, 5, 6]


def test_memory_of_the_host_stays_there_or_is_copied(gpu: str) -> None:
    array = np.arange(3, dtype=np.float32)
    before = ogive.config.current_config().device
    ogive.configure(device=gpu)
    try:
        here = ogive.from_dlpack(array)
    finally:
        ogive.configure(device=before)
    there = ogive.from_dlpack(array, device=gpu)
    array += 1
    assert here.device == "CPU" and here.tolist() == [1, 2, 3]
    assert there.device == gpu and (there * 2).tolist() == [0, 2, 4]
