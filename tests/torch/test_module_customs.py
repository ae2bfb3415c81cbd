"""What programs do with modules besides calling them: PyTorch's modules and ours alike."""

from __future__ import annotations

import collections
from typing import Any

import numpy
import pytest
import torch as pytorch
import torch.nn.utils.prune

import ogive.torch

BOTH = pytest.mark.parametrize("torch", [pytorch, ogive.torch], ids=["pytorch", "ogive"])


def make_layers(torch: Any) -> list[Any]:
    nn = torch.nn
    return [
        nn.Linear(3, 2), nn.Bilinear(2, 3, 4), nn.Conv2d(2, 4, 3, groups=2),
        nn.ConvTranspose1d(2, 4, 3), nn.Embedding(5, 3, padding_idx=1), nn.EmbeddingBag(5, 3),
        nn.LSTM(2, 3, bidirectional=True), nn.GRUCell(2, 3), nn.BatchNorm1d(3), nn.LayerNorm(3),
        nn.GroupNorm(1, 2), nn.RMSNorm(3), nn.InstanceNorm1d(2, affine=True), nn.PReLU(),
    ]  # fmt: skip


@BOTH
def test_reset_parameters_gives_a_layer_other_values_than_it_was_given(torch: Any) -> None:
    for layer in make_layers(torch):
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.fill_(7.0)
        layer.reset_parameters()
        assert all(bool((p != 7).all()) for p in layer.parameters()), layer
        assert all(p.requires_grad for p in layer.parameters())


@BOTH
def test_a_class_that_defines_reset_parameters_has_it_called_when_it_is_made(torch: Any) -> None:
    class Constant(torch.nn.Linear):  # type: ignore[misc]
        def reset_parameters(self) -> None:
            super().reset_parameters()
            torch.nn.init.constant_(self.weight, 0.5)

    assert Constant(2, 1).weight.tolist() == [[0.5, 0.5]]


@BOTH
def test_a_reset_table_has_zeros_for_padding(torch: Any) -> None:
    table = torch.nn.Embedding(4, 2, padding_idx=2)
    table.reset_parameters()
    assert table.weight[2].tolist() == [0.0, 0.0]
    assert table.sparse is False


@BOTH
def test_running_statistics_are_forgotten(torch: Any) -> None:
    norm = torch.nn.BatchNorm1d(2)
    norm(torch.tensor([[1.0, 2.0], [3.0, 5.0]]))
    norm.reset_running_stats()
    assert norm.running_mean.tolist() == [0.0, 0.0]
    assert norm.running_var.tolist() == [1.0, 1.0]
    assert norm.num_batches_tracked.item() == 0


@BOTH
def test_a_state_from_before_batches_were_counted_is_loaded(torch: Any) -> None:
    norm = torch.nn.BatchNorm1d(2)
    names = ("weight", "bias", "running_mean", "running_var")
    found = norm.load_state_dict({name: torch.ones(2) for name in names})
    assert str(found) == "<All keys matched successfully>"


@BOTH
def test_all_weights_of_a_recurrent_layer_are_listed_by_direction(torch: Any) -> None:
    layer = torch.nn.LSTM(2, 3, 2, bidirectional=True, proj_size=2)
    assert [len(weights) for weights in layer.all_weights] == [5] * 4
    assert layer.all_weights[1][0] is layer.weight_ih_l0_reverse


@BOTH
def test_a_module_may_keep_more_than_tensors_in_a_state(torch: Any) -> None:
    class Counted(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.count = 3

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    model = torch.nn.Sequential(Counted(), torch.nn.Linear(1, 1))
    state = model.state_dict()
    assert list(state) == ["0._extra_state", "1.weight", "1.bias"]
    model[0].count = 9
    model.load_state_dict(state)
    assert model[0].count == 3


@BOTH
def test_a_part_says_itself_what_it_gives_to_a_state(torch: Any) -> None:
    class Hidden(torch.nn.Linear):  # type: ignore[misc]
        def state_dict(self, *args: Any, **kwargs: Any) -> Any:
            return kwargs["destination"]

    class Noted(torch.nn.Linear):  # type: ignore[misc]
        def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[f"{prefix}note"] = torch.ones(1)

    model = torch.nn.Sequential(Hidden(1, 1), Noted(1, 1))
    assert list(model.state_dict()) == ["1.weight", "1.bias", "1.note"]


@BOTH
def test_a_part_decides_itself_how_it_is_trained(torch: Any) -> None:
    class Frozen(torch.nn.BatchNorm1d):  # type: ignore[misc]
        def train(self, mode: bool = True) -> Any:
            return super().train(False)

    model = torch.nn.Sequential(torch.nn.Linear(2, 2), Frozen(2))
    model.train()
    assert (model.training, model[0].training, model[1].training) == (True, True, False)
    model.eval()
    assert not any(module.training for module in model.modules())


@BOTH
def test_hooks_are_in_dictionaries_that_programs_clear(torch: Any) -> None:
    layer, calls = torch.nn.Linear(2, 2), []
    layer.register_forward_hook(lambda *_: calls.append("after"))
    layer.register_forward_pre_hook(lambda *_: calls.append("before"))
    assert (len(layer._forward_hooks), len(layer._forward_pre_hooks)) == (1, 1)
    layer._forward_hooks.clear()
    layer(torch.ones(1, 2))
    layer._forward_pre_hooks = collections.OrderedDict()
    layer(torch.ones(1, 2))
    assert calls == ["before"]


@BOTH
def test_hooks_of_every_module_are_called_until_they_are_removed(torch: Any) -> None:
    names: list[str] = []
    register = torch.nn.modules.module.register_module_forward_hook
    handle = register(lambda module, *_: names.append(type(module).__name__))
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    model(torch.ones(1, 2))
    handle.remove()
    model(torch.ones(1, 2))
    assert names == ["Linear", "ReLU", "Sequential"]


@BOTH
def test_names_of_parts_are_refused_as_pytorch_refuses_them(torch: Any) -> None:
    layer: Any = torch.nn.Linear(2, 2)
    refused: tuple[Any, ...] = (
        lambda: layer.register_parameter("a.b", None), lambda: layer.register_buffer("", None),
        lambda: layer.register_buffer("weight", torch.ones(1)),
        lambda: layer.add_module("weight", torch.nn.ReLU()),
    )  # fmt: skip
    for call in refused:
        with pytest.raises(KeyError):
            call()
    for call in (
        lambda: layer.register_parameter("w", torch.ones(1)), lambda: layer.add_module("m", 3),
        lambda: layer.register_buffer("b", 3),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            call()
    for call in (lambda: layer.get_parameter("none"), lambda: layer.get_buffer("none")):
        with pytest.raises(AttributeError):
            call()


@BOTH
def test_chains_count_and_print_their_places(torch: Any) -> None:
    nn = torch.nn
    assert str(nn.ModuleList([None])) == "ModuleList(\n  (0): None\n)"
    chain = nn.Sequential(nn.Linear(1, 2), nn.Tanh(), nn.ReLU())
    assert list(dict(chain[1:].named_children())) == ["1", "2"]
    chain.add_module("last", nn.Sigmoid())
    del chain[0]
    assert list(dict(chain.named_children())) == ["0", "1", "2"]


@BOTH
def test_weight_norm_has_the_names_of_old_checkpoints(torch: Any) -> None:
    utils = torch.nn.utils
    layer = torch.nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.arange(6.0).reshape(2, 3) + 1)
    before = layer.weight.detach().clone()
    utils.weight_norm(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight_g", "weight_v"]
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.weight_g.grad.shape == (2, 1)
    numpy.testing.assert_allclose(layer.weight.detach().numpy(), before.numpy(), rtol=1e-6)
    with torch.no_grad():
        layer.weight_g.mul_(2)
    layer(torch.ones(1, 3))
    utils.remove_weight_norm(layer)
    assert sorted(layer.state_dict()) == ["bias", "weight"]
    numpy.testing.assert_allclose(layer.weight.detach().numpy(), 2 * before.numpy(), rtol=1e-6)


@BOTH
def test_spectral_norm_has_the_names_of_old_checkpoints(torch: Any) -> None:
    layer = torch.nn.utils.spectral_norm(torch.nn.Linear(3, 3, bias=False), n_power_iterations=30)
    with torch.no_grad():
        layer.weight_orig.copy_(torch.diag(torch.tensor([4.0, 2.0, 1.0])))
    assert sorted(layer.state_dict()) == ["weight_orig", "weight_u", "weight_v"]
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.weight_orig.grad is not None
    layer.eval()
    out = layer(torch.ones(1, 3)).detach().numpy()
    numpy.testing.assert_allclose(out, [[1.0, 0.5, 0.25]], rtol=1e-4)
    torch.nn.utils.remove_spectral_norm(layer)
    assert sorted(layer.state_dict()) == ["weight"]


@BOTH
@pytest.mark.parametrize(
    ("shape", "settings"),
    [
        ((3, 3), {}), ((3, 5), {}), ((5, 3), {"orthogonal_map": "cayley"}),
        ((3, 5), {"use_trivialization": False}), ((5, 3), {"orthogonal_map": "householder"}),
    ],
)  # fmt: skip
def test_an_orthogonal_weight_stays_one_when_it_is_trained(
    torch: Any, shape: tuple[int, int], settings: dict[str, Any]
) -> None:
    layer = torch.nn.Linear(shape[1], shape[0], bias=False)
    torch.nn.utils.parametrizations.orthogonal(layer, **settings)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    before = layer.weight.detach().clone()
    (layer(torch.ones(2, shape[1])) - torch.arange(shape[0])).square().mean().backward()
    optimizer.step()
    weight = layer.weight.detach()
    product = weight @ weight.T if shape[0] <= shape[1] else weight.T @ weight
    numpy.testing.assert_allclose(product.numpy(), numpy.eye(len(product)), atol=1e-5)
    assert not numpy.allclose(weight.numpy(), before.numpy())


@BOTH
def test_parametrized_weights_are_computed_once_while_they_are_cached(torch: Any) -> None:
    calls = []

    class Doubled(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            calls.append(1)
            return 2 * x

    parametrize = torch.nn.utils.parametrize
    layer = torch.nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Doubled())
    calls.clear()
    with parametrize.cached():
        layer(torch.ones(1, 2))
        layer(torch.ones(1, 2))
    assert len(calls) == 1
    layer(torch.ones(1, 2))
    assert len(calls) == 2
    assert parametrize.type_before_parametrizations(layer) is torch.nn.Linear


@BOTH
def test_a_program_prunes_in_a_way_of_its_own(torch: Any) -> None:
    prune = torch.nn.utils.prune

    class EveryOther(prune.BasePruningMethod):  # type: ignore[misc, name-defined]
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    layer = torch.nn.Linear(3, 4)
    EveryOther.apply(layer, "bias")
    assert layer.bias_mask.tolist() == [0.0, 1.0, 0.0, 1.0]
    EveryOther.apply(layer, "bias")  # of what is left
    assert layer.bias_mask.tolist() == [0.0, 0.0, 0.0, 1.0]
    (container,) = layer._forward_pre_hooks.values()
    assert [type(method).__name__ for method in container] == ["EveryOther"] * 2
    prune.ln_structured(layer, "weight", amount=2, n=1, dim=0)
    prune.l1_unstructured(layer, "weight", amount=1)
    assert layer.weight_mask.sum().item() == 5.0


@BOTH
def test_a_buffer_is_one_by_assignment(torch: Any) -> None:
    class Scaled(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.kept = torch.nn.Buffer(torch.ones(2))
            self.passing = torch.nn.Buffer(torch.ones(1), persistent=False)

    model = Scaled()
    assert list(model.state_dict()) == ["kept"]
    assert [name for name, _ in model.named_buffers()] == ["kept", "passing"]
    assert isinstance(model.kept, torch.nn.Buffer)
    assert not isinstance(torch.ones(1), torch.nn.Buffer)


@BOTH
def test_a_function_of_a_module_ties_weights_and_takes_several_states(torch: Any) -> None:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    states = ({"0.weight": torch.eye(2) * 2}, {"1.bias": torch.ones(2)})
    found = torch.func.functional_call(model, states, (torch.ones(1, 2),))
    assert found.tolist() == [[5.0, 5.0]]


@BOTH
def test_a_model_without_values_is_built_and_filled(torch: Any) -> None:
    with torch.device("meta"):
        model = torch.nn.Linear(2, 1)
    model = model.to_empty(device="cpu")
    model.load_state_dict({"weight": torch.ones(1, 2), "bias": torch.zeros(1)})
    assert model(torch.ones(1, 2)).tolist() == [[2.0]]
    assert model.to("meta") is model
