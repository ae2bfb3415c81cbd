"""What divides work among processes, where there is one."""

from __future__ import annotations

import pytest

import ogive.torch as torch
from ogive.errors import ArgumentError
from tests.raising import raises

parallel = torch.distributed.tensor.parallel
states = torch.distributed.checkpoint.state_dict


def test_one_process_has_all_of_a_model_that_is_divided() -> None:
    mesh = torch.distributed.device_mesh.init_device_mesh(
        "cpu", (1, 1), mesh_dim_names=("data", "model")
    )
    assert (mesh.size(), mesh["model"].shape, mesh.get_local_rank()) == (1, (1,), 0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    plan = {"0": parallel.ColwiseParallel(output_layouts=torch.distributed.tensor.Shard(0))}
    assert parallel.parallelize_module(model, mesh["model"], plan) is model
    with raises(ArgumentError, match="needs more than one process"):
        torch.distributed.device_mesh.init_device_mesh("cpu", (4,))
    with raises(ArgumentError, match="has the axes"):
        _ = mesh["other"]


def test_the_state_of_an_optimizer_is_by_names_of_parameters() -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    weights, state = states.get_state_dict(model, optimizer)
    assert sorted(state["state"]) == ["bias", "weight"]
    other = torch.nn.Linear(2, 1)
    fresh = torch.optim.Adam(other.parameters())
    states.set_state_dict(other, fresh, model_state_dict=weights, optim_state_dict=state)
    again = states.get_optimizer_state_dict(other, fresh)["state"]
    assert again["weight"]["exp_avg"].tolist() == state["state"]["weight"]["exp_avg"].tolist()
    assert other.weight.tolist() == model.weight.tolist()


def test_an_old_comparison_takes_other_dtypes() -> None:
    torch.testing.assert_allclose(torch.ones(2), torch.ones(2, dtype=torch.float64))
    with pytest.raises(AssertionError):
        torch.testing.assert_allclose(torch.ones(2), torch.zeros(2))


def test_gradients_flow_through_collectives_that_give_their_results() -> None:
    collectives = torch.distributed.nn.functional
    torch.distributed.init_process_group("gloo", rank=0, world_size=1)
    try:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (gathered,) = torch.distributed.nn.all_gather(x)
        summed, sent = collectives.all_reduce(x), collectives.broadcast(x, 0)
        part = collectives.reduce_scatter(x, [x])
        (gathered * 2 + summed * 3 + sent * 4 + part * 5).sum().backward()
    finally:
        torch.distributed.destroy_process_group()
    assert x.grad.tolist() == [14.0, 14.0]
