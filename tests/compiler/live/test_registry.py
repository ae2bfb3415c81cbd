"""Live tensors, and substitution in all of them at once."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np

import ogive
from ogive import Tensor
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.ir.dtype import float32, void
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import registry
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.compiler.live.substitution import substitute_everywhere, visited_count
from tests.raising import raises
from tests.tensor.interpreter import evaluate


def fresh_buffer(values: Any) -> UOp:
    """A BUFFER node with memory, as realization would make it."""
    array = np.asarray(values, np.float32)
    node = UOp(Op.BUFFER, float32, (UOp.unique(),), ("CPU", array.size))
    buffer = Buffer(array.nbytes)
    buffer.copy_from(array)
    registry.set_buffer(node, buffer)
    return node


def vector(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float32))


def test_a_tensor_is_found_by_its_id_until_it_is_dropped() -> None:
    x = vector(1, 2)
    number = x.id
    assert registry.tensor(number) is x
    assert number in registry.live_tensor_ids()
    del x
    gc.collect()
    assert registry.tensor(number) is None
    assert number not in registry.live_tensor_ids()


def test_ids_are_monotonic_and_survive_a_change_of_graph() -> None:
    x, y = vector(1), vector(2)
    assert x.id < y.id
    number = x.id
    x.assign(y)
    assert x.id == number and registry.tensor(number) is x


def test_substitution_reaches_every_tensor_above() -> None:
    x = vector(1, 2)
    shared = x.exp()
    above = [shared + 1, shared.sum(), (shared * shared).reshape(2, 1), shared]
    buffer = fresh_buffer([10, 20])
    substitute_everywhere({shared.node: buffer})
    assert shared.node is buffer
    values = [evaluate(tensor).tolist() for tensor in above]
    assert values == [[11, 21], 30, [[100], [400]], [10, 20]]
    assert all(Op.EXP not in {n.op for n in tensor.node.walk()} for tensor in above)


def test_tensors_beside_it_are_not_touched() -> None:
    x = vector(1, 2)
    shared, beside = x.exp(), x.sin() + 1
    node = beside.node
    substitute_everywhere({shared.node: fresh_buffer([1, 2])})
    assert beside.node is node


def test_a_diamond_stays_shared() -> None:
    negated = -vector(3, 1, 2)
    position = (negated.max() == negated).sum() + negated.sum()
    substitute_everywhere({negated.node: fresh_buffer([-3, -1, -2])})
    buffers = [node for node in position.node.walk() if node.op is Op.BUFFER]
    assert len(buffers) == 1 and buffers[0] is negated.node


def test_several_keys_are_replaced_in_one_step() -> None:
    x = vector(1, 2)
    a, b = x.exp(), x.sin()
    both = a + b
    substitute_everywhere({a.node: fresh_buffer([1, 2]), b.node: fresh_buffer([10, 20])})
    assert evaluate(both).tolist() == [11, 22]


def test_a_key_above_a_key_takes_its_own_replacement() -> None:
    x = vector(1, 2)
    inner = x.exp()
    outer = inner + 1
    top = outer * 2
    substitute_everywhere({inner.node: fresh_buffer([1, 2]), outer.node: fresh_buffer([5, 6])})
    assert evaluate(top).tolist() == [10, 12]


def test_replacements_are_revisited_unless_walking() -> None:
    x = vector(1, 2)
    inner, other = x.exp(), x.sin()
    top = inner * 1.5
    buffer = fresh_buffer([7, 8])
    substitute_everywhere({inner.node: (other + 1).node, other.node: buffer})
    assert evaluate(top).tolist() == [12, 13.5]


def test_walking_allows_a_replacement_that_contains_its_key() -> None:
    x = vector(1, 2)
    reader = x + 1
    old = x.node
    store = UOp(Op.ASSIGN, void, (old, UOp.const(float32, 0.0)))
    after = UOp(Op.AFTER, float32, (old, store))
    substitute_everywhere({old: after}, walk=True)
    assert x.node is after
    assert reader.node.src[0] is after
    assert x.node.src[0] is old


def test_the_usual_substitution_refuses_a_replacement_that_contains_its_key() -> None:
    x = vector(1, 2)
    old = x.node
    with raises(RecursionError, match="contains its own key"):
        substitute_everywhere({old: (x + 1).node})
    assert x.node is old


def test_the_cost_follows_what_is_affected() -> None:
    base = vector(1, 2)
    crowd = [base + number for number in range(500)]
    key = base.exp()
    above = [key + 1, key * 2]
    before = visited_count()
    substitute_everywhere({key.node: fresh_buffer([1, 2])})
    assert visited_count() - before <= 1 + len(above)
    assert len(crowd) == 500


def test_what_no_tensor_holds_is_not_rebuilt() -> None:
    x = vector(1, 2)
    key = x.exp()
    kept = (key + 1).node  # alive, but no tensor's
    substitute_everywhere({key.node: fresh_buffer([1, 2])})
    assert kept.src[0].op is Op.EXP


def test_dropped_users_leave_no_trace() -> None:
    x = vector(1, 2)
    for number in range(10_000):
        _ = x + number
    assert len(x.node.live) < 100
    for _ in range(10_000):
        _ = Tensor(x)
    assert len(x.node.live.holders) < 100


def test_a_deep_chain_is_substituted_and_freed() -> None:
    x = vector(1, 2)
    key = x.exp()
    top: Tensor = key
    for _ in range(50_000):
        top = (top + 1) * 0.5
    substitute_everywhere({key.node: fresh_buffer([1, 2])})
    assert sum(node.op is Op.BUFFER for node in top.node.walk()) == 1
    assert Op.EXP not in {node.op for node in top.node.walk()}
    del top


def test_buffers_go_with_their_nodes() -> None:
    kept_graphs.clear()
    gc.collect()
    before = registry.buffer_count()
    x = vector(1, 2)
    y = x + 1
    assert registry.buffer_count() == before + 1
    del x
    assert registry.buffer_count() == before + 1
    del y
    gc.collect()
    assert registry.buffer_count() == before


def test_a_buffer_is_set_once() -> None:
    node = fresh_buffer([1])
    with raises(AssertionError, match="for life"):
        registry.set_buffer(node, Buffer(4))


def test_graphs_built_without_tensors_are_connected_when_they_enter() -> None:
    x = vector(1, 2)
    key = UOp(Op.EXP, float32, (x.node,))
    deep = key
    for _ in range(20_000):
        deep = UOp(Op.NEG, float32, (deep,))
    registry.move_tensor(x, deep)
    substitute_everywhere({key: fresh_buffer([1, 2])})
    assert Op.EXP not in {node.op for node in x.node.walk()}


def test_threads_build_while_others_substitute() -> None:
    x = vector(1, 2)
    failures: list[BaseException] = []
    stop = threading.Event()

    def build() -> None:
        try:
            while not stop.is_set():
                key = x.exp()
                top = (key + 1) * key
                if key.node.op is Op.BUFFER:
                    names = {node.op for node in top.node.walk()}
                    assert Op.EXP not in names or Op.BUFFER in names
                assert top.shape == (2,)
        except BaseException as error:
            failures.append(error)

    def replace() -> None:
        try:
            while not stop.is_set():
                key = x.exp()
                held = [key + 1, key * 2]
                substitute_everywhere({key.node: fresh_buffer([1, 2])})
                for tensor in [key, *held]:
                    assert Op.EXP not in {node.op for node in tensor.node.walk()}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=action) for action in (build, replace) * 3]
    for thread in threads:
        thread.start()
    stop.wait(1.5)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def test_capture_makes_few_nodes() -> None:
    x, y = vector(1, 2, 3), vector(4, 5, 6)
    matrix = Tensor(np.ones((4, 3), np.float32))

    def new(result: Tensor, *given: Tensor) -> list[Op]:
        old = {node for tensor in given for node in tensor.node.walk()}
        return [node.op for node in result.node.walk() if node not in old]

    assert new(x + 1, x) == [Op.CONST, Op.ADD]
    assert new(x * y, x, y) == [Op.MUL]
    assert new(x.exp(), x) == [Op.EXP]
    assert new(x - x, x) == [Op.SUB]
    assert new(matrix + x, matrix, x) == [Op.RESHAPE, Op.EXPAND, Op.ADD]
    assert new(matrix + matrix.sum(), matrix).count(Op.EXPAND) == 1
    assert new(matrix.sum(-1), matrix) == [Op.CALL]
    assert new(matrix.sum(-1, keepdim=True), matrix) == [Op.CALL]
    assert new(matrix @ matrix.T, matrix) == [Op.PERMUTE, Op.CALL]
    assert new(matrix.softmax(), matrix) == [Op.CALL]
    assert len(new(ogive.cat([x, y, x]), x, y)) <= 3 + 1 + 2 * 3 + 2
