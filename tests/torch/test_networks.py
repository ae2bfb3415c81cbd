"""What programs name of layers besides the layers themselves."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
import torch as pytorch

import ogive.torch
from tests.raising import raises

BOTH = pytest.mark.parametrize("torch", [pytorch, ogive.torch], ids=["pytorch", "ogive"])


@BOTH
def test_numbers_become_tuples_as_layers_take_them(torch: Any) -> None:
    utils = torch.nn.modules.utils
    assert utils._pair(3) == (3, 3)
    assert utils._triple([1, 2, 3]) == (1, 2, 3)
    assert utils._ntuple(4)(0) == (0, 0, 0, 0)
    assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    state = OrderedDict({"module.weight": 1, "bias": 2})
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert sorted(state) == ["bias", "weight"]


@BOTH
def test_the_stubs_of_quantization_let_floats_pass(torch: Any) -> None:
    quantized = torch.ao.nn.quantized.FloatFunctional()
    one, two = torch.tensor([1.0, -3.0]), torch.tensor([2.0, 1.0])
    assert quantized.add(one, two).tolist() == [3.0, -2.0]
    assert quantized.add_relu(one, two).tolist() == [3.0, 0.0]
    assert quantized.cat([one, two]).tolist() == [1.0, -3.0, 2.0, 1.0]
    quantization = torch.ao.quantization
    wrapped = quantization.QuantWrapper(torch.nn.ReLU())
    assert wrapped(one).tolist() == [1.0, 0.0]
    with raises(RuntimeError, match="FloatFunctional"):
        quantized(one)


@BOTH
def test_a_shared_buffer_has_one_name_and_the_state_all(torch: Any) -> None:
    shared = torch.nn.BatchNorm1d(2, affine=False)
    model = torch.nn.Sequential(shared, torch.nn.ReLU(), shared)
    once = ["0.running_mean", "0.running_var", "0.num_batches_tracked"]
    assert [name for name, _ in model.named_buffers()] == once
    assert len(dict(model.named_buffers(remove_duplicate=False))) == 6
    assert len(model.state_dict()) == 6


@BOTH
def test_a_state_knows_the_versions_of_its_modules(torch: Any) -> None:
    seen = []

    class Versioned(torch.nn.Linear):  # type: ignore[misc]
        _version = 3

        def _load_from_state_dict(self, state: Any, prefix: str, metadata: Any, *rest: Any) -> None:
            seen.append(metadata.get("version"))
            super()._load_from_state_dict(state, prefix, metadata, *rest)

    model = torch.nn.Sequential(Versioned(1, 1), torch.nn.BatchNorm1d(1))
    state = model.state_dict()
    assert dict(state._metadata) == {"": {"version": 1}, "0": {"version": 3}, "1": {"version": 2}}
    model.load_state_dict(state)
    model.load_state_dict(dict(state))
    assert seen == [3, None]


def test_versions_of_modules_are_in_files(tmp_path: Any) -> None:
    path = str(tmp_path / "state.pt")
    ogive.torch.save(ogive.torch.nn.BatchNorm1d(2).state_dict(), path)
    for torch in (pytorch, ogive.torch):
        assert torch.load(path)._metadata == {"": {"version": 2}}


@BOTH
def test_checkpoint_gives_what_the_function_does(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    checkpoint = torch.utils.checkpoint.checkpoint
    result = checkpoint(lambda a, b: (a * b).sin(), x, x * 2, use_reentrant=False)
    result.sum().backward()
    expected = pytorch.tensor([1.0, 2.0], requires_grad=True)
    (expected * expected * 2).sin().sum().backward()
    assert expected.grad is not None
    assert x.grad.tolist() == pytest.approx(expected.grad.tolist(), rel=1e-5)


@BOTH
def test_classes_of_data_sets_take_types_in_brackets(torch: Any) -> None:
    data = torch.utils.data

    class Pairs(data.Dataset[tuple[int, int]]):  # type: ignore[name-defined, misc]
        def __len__(self) -> int:
            return 2

        def __getitem__(self, position: int) -> tuple[int, int]:
            return position, position

    assert data.DataLoader[int] and data.Sampler[int] and data.IterableDataset[int]
    first, second = next(iter(data.DataLoader(Pairs(), batch_size=2)))
    assert first.tolist() == second.tolist() == [0, 1]


@BOTH
def test_a_chain_of_modules_is_no_list_of_them(torch: Any) -> None:
    assert not isinstance(torch.nn.Sequential(), torch.nn.ModuleList)
    assert not isinstance(torch.nn.ModuleList(), torch.nn.Sequential)


@BOTH
def test_weights_of_recurrent_layers_can_be_asked_to_lie_together(torch: Any) -> None:
    torch.nn.LSTM(2, 3).flatten_parameters()


@BOTH
def test_a_dropout_of_channels_takes_features_without_places(torch: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, that this will be an error one day
        dropped = torch.nn.Dropout2d(0.5)(torch.ones(50, 40))
    assert dropped.unique().tolist() == [0.0, 2.0]


@BOTH
def test_a_tensor_says_of_which_kinds_it_is_not_and_whether_it_keeps_its_gradient(
    torch: Any,
) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert not (x.is_xpu or x.is_mps or x.is_meta or x.is_nested or x.is_mkldnn)
    assert not (x.is_conj() or x.is_neg() or x.is_inference())
    assert (x.retains_grad, y.retains_grad) == (False, False)
    y.retain_grad()
    y.sum().item()
    assert y.retains_grad
    assert y.detach().numpy(force=True).tolist() == [2.0, 2.0]


def test_the_rank_of_a_matrix_may_have_a_bound() -> None:
    for library in (ogive.torch, pytorch):
        matrix = library.diag(library.tensor([1.0, 0.5, 0.1]))
        assert library.linalg.matrix_rank(matrix, tol=0.3).item() == 2
        assert library.linalg.matrix_rank(matrix, 0.01).item() == 3


@pytest.mark.parametrize(
    ("name", "sizes", "settings", "shape"),
    [
        ("BatchNorm1d", (4,), {}, (5, 4)),
        ("BatchNorm2d", (4,), {}, (2, 4, 3, 3)),
        ("InstanceNorm2d", (4,), {"affine": True}, (2, 4, 3, 3)),
        ("GroupNorm", (2, 4), {}, (3, 4, 5)),
        ("LazyBatchNorm1d", (), {}, (5, 4)),
    ],
)
def test_normalization_without_a_bias(
    name: str, sizes: Any, settings: dict[str, Any], shape: tuple[int, ...]
) -> None:
    values = np.random.default_rng().normal(size=shape).astype(np.float32)
    found = []
    for torch in (pytorch, ogive.torch):
        layer = getattr(torch.nn, name)(*sizes, **settings, bias=False)
        result = layer(torch.tensor(values))
        assert layer.bias is None and "bias" not in layer.state_dict()
        found.append((repr(layer), list(layer.state_dict()), result.detach().numpy()))
    assert found[0][:2] == found[1][:2]
    np.testing.assert_allclose(found[1][2], found[0][2], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_a_bag_shortens_the_rows_that_it_reads(mode: str) -> None:
    table = np.random.default_rng().normal(size=(6, 3)).astype(np.float32)
    found = []
    for torch in (pytorch, ogive.torch):
        layer = torch.nn.EmbeddingBag(6, 3, 0.5, 1.0, mode != "max", mode)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(table))
        result = layer(torch.tensor([0, 4, 4, 2, 4]), torch.tensor([0, 2]))
        (result**2).sum().backward()
        found.append((result, layer.weight, layer.weight.grad))
        text = repr(layer)
        assert text.startswith("EmbeddingBag(6, 3, max_norm=0.5, norm_type=1.0"), text
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(
            ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-6
        )


def test_scaled_gradients_of_the_greatest_are_refused() -> None:
    with raises(ValueError, match="scale_grad_by_freq"):
        ogive.torch.nn.EmbeddingBag(6, 3, scale_grad_by_freq=True, mode="max")


def test_a_transformer_takes_pytorchs_words_about_causality() -> None:
    found = []
    for library in (pytorch, ogive.torch):
        nn: Any = library.nn
        model = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True)
        with library.no_grad():
            for number, parameter in enumerate(model.parameters()):
                values = np.random.default_rng(number).normal(size=tuple(parameter.shape))
                parameter.copy_(library.tensor(values * 0.3).float())
        x = library.linspace(-1, 1, 48).reshape(2, 3, 8)
        mask = nn.Transformer.generate_square_subsequent_mask(3)
        y = model(x, x.flip(1), mask, mask, src_is_causal=True, tgt_is_causal=True)
        found.append(y.detach().numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-5)
