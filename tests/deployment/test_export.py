"""Exported functions give what captured ones give, to the last bit, and refuse what they cannot."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import ogive
from ogive import Config, Tensor, Variable, errors, nn
from ogive.compiler.devices.exported_program import ExportStatus
from ogive.deployment import Exported
from tests.deployment.loaded import aligned, call
from tests.raising import raises

RNG = numpy.random.default_rng(20261119)


def drawn(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(numpy.float32)


def block() -> nn.Module:
    """Attention, a norm, an activation."""

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(32)
            self.qkv = nn.Linear(32, 96)
            self.out = nn.Linear(32, 32)

        def forward(self, x: Tensor) -> Tensor:
            q, k, v = self.qkv(self.norm(x)).reshape(-1, x.shape[1], 3, 4, 8).permute(2, 0, 3, 1, 4)
            heads = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            update: Tensor = self.out(heads.transpose(1, 2).reshape(x.shape)).gelu()
            return x + update

    return Block().eval()


def convolutions() -> nn.Module:
    layers = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(8 * 36, 5)).eval()


FUNCTIONS: dict[str, tuple[Callable[[], Callable[..., Any]], list[Any]]] = {
    "layers": (lambda: nn.Sequential(nn.Linear(20, 70), nn.Tanh(), nn.Linear(70, 3)),
               [drawn(9, 20)]),
    "a transformer block": (block, [drawn(2, 17, 32)]),
    "convolutions and a batch norm": (convolutions, [drawn(2, 3, 12, 12)]),
    "a sort": (lambda: lambda x: x.sort(-1)[0], [drawn(7, 33)]),
    "positions and values": (lambda: lambda x: x.topk(5), [drawn(4, 50)]),
    "a cumulative sum": (lambda: lambda x: x.cumsum(0), [drawn(100, 3)]),
    "rows of a table": (lambda: nn.Embedding(11, 6), [RNG.integers(0, 11, (5, 4))]),
    "several arguments": (lambda: lambda a, b: {"sum": a + b, "product": a @ b.T},
                          [drawn(3, 8), drawn(3, 8)]),
    "no arguments": (lambda: lambda: Tensor(numpy.arange(6.0)) * 2, []),
    "nothing but a number": (lambda: lambda x: x.mean(), [drawn(1000)]),
    "half precision": (lambda: lambda x: (x.bfloat16() @ x.bfloat16().T).float(), [drawn(16, 24)]),
    "bytes and conditions": (lambda: lambda x: (x > 0).to("uint8"), [drawn(40)]),
    "the same result twice": (lambda: lambda x: [y := x * 2, y], [drawn(5)]),
}  # fmt: skip


def exported_results(
    exported: Exported, arguments: list[Any], expected: list[Any]
) -> tuple[int, list[Any]]:
    results = [aligned(array.shape, array.dtype) for array in expected]
    return call(exported, arguments, results), results


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [each.numpy() for each in value.values()]
    return [each.numpy() for each in value] if isinstance(value, list | tuple) else [value.numpy()]


@pytest.mark.parametrize("cpu", ["", "x86-64-v3"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_exported_function_gives_the_bits_of_a_captured_one(
    name: str, cpu: str, tmp_path: Path
) -> None:
    make, arrays = FUNCTIONS[name]
    ogive.manual_seed(0)
    function = make()
    config = Config(cpu=cpu)
    exported = ogive.export(function, arrays, tmp_path / "made.o", config=config)
    expected = flat(ogive.jit(function, config=config)(*map(Tensor, arrays)))
    status, results = exported_results(exported, arrays, expected)
    assert status == ExportStatus.DONE
    for result, wanted in zip(results, expected, strict=True):
        numpy.testing.assert_array_equal(result, wanted)


def test_a_length_may_be_a_parameter(tmp_path: Path) -> None:
    layer = nn.Sequential(nn.Linear(16, 40), nn.ReLU(), nn.Linear(40, 4))
    whole = Tensor(drawn(50, 16))
    rows = Variable("rows", 1, 50)
    exported = ogive.export(layer, (whole[: rows.bind(7)],), tmp_path / "layer.o")
    assert "int64_t rows,  /* 1 to 50 */" in exported.prototype
    for count in (1, 7, 13, 50):
        array = drawn(count, 16)
        result = aligned((count, 4), numpy.float32)
        assert call(exported, [array], [result], (count,)) == ExportStatus.DONE
        numpy.testing.assert_allclose(result, layer(Tensor(array)).numpy(), rtol=1e-5, atol=1e-6)
    assert call(exported, [array], [result], (51,)) == ExportStatus.OUT_OF_BOUNDS


def test_what_follows_from_weights_alone_is_computed_once(tmp_path: Path) -> None:
    weight = Tensor(drawn(300, 300))
    exported = ogive.export(lambda x: x @ weight.exp(), (drawn(200, 300),), tmp_path / "f.o")
    assert exported.constant_bytes < 2 * 300 * 300 * 4
    result = aligned((200, 300), numpy.float32)
    array = drawn(200, 300)
    assert call(exported, [array], [result]) == ExportStatus.DONE
    numpy.testing.assert_allclose(result, array @ numpy.exp(weight.numpy()), rtol=1e-4, atol=1e-3)


def test_an_index_out_of_range_is_a_status(tmp_path: Path) -> None:
    exported = ogive.export(nn.Embedding(11, 6), (numpy.array([1, 2]),), tmp_path / "table.o")
    result = aligned((2, 6), numpy.float32)
    assert call(exported, [numpy.array([1, 11])], [result]) == ExportStatus.FAULT
    assert call(exported, [numpy.array([1, 10])], [result]) == ExportStatus.DONE


def test_memory_that_is_not_aligned_is_a_status(tmp_path: Path) -> None:
    exported = ogive.export(lambda x: x * 2, (drawn(8),), tmp_path / "twice.o")
    beside = aligned((9,), numpy.float32)[1:]
    assert call(exported, [drawn(8)], [beside]) == ExportStatus.UNALIGNED


def test_parameters_are_named_as_one_likes(tmp_path: Path) -> None:
    exported = ogive.export(
        lambda x: x + 1, (drawn(3),), tmp_path / "f.o", arguments=["given"], results=["more"]
    )
    assert "const float *given," in exported.prototype and "float *more," in exported.prototype
    with raises(errors.ArgumentError, match="2 names, and the function has 1 results"):
        ogive.export(lambda x: x + 1, (drawn(3),), tmp_path / "f.o", results=["a", "b"])


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")
def test_a_c_program_calls_it(tmp_path: Path) -> None:
    array = drawn(4, 6)
    layer = nn.Linear(6, 3)
    ogive.export(layer, (array,), tmp_path / "layer.o")
    array.tofile(tmp_path / "given")
    (tmp_path / "main.c").write_text(
        """
        #include "layer.h"
        #include <stdio.h>
        #include <stdlib.h>
        int main(void) {
            float given[24];
            FILE *file = fopen("given", "rb");
            if (fread(given, 4, 24, file) != 24) return 9;
            float *result = aligned_alloc(LAYER_ALIGNMENT, 64);
            void *memory = aligned_alloc(LAYER_ALIGNMENT, (LAYER_MEMORY + 63) / 64 * 64);
            int status = layer(given, result, memory);
            for (int i = 0; i < 12; i++) printf("%.9g\\n", result[i]);
            return status;
        }
        """
    )
    subprocess.run(
        ["cc", "-Wall", "-Werror", "main.c", "layer.o", "-o", "main"], cwd=tmp_path, check=True
    )
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True)
    printed = numpy.array(done.stdout.split(), numpy.float32).reshape(4, 3)
    numpy.testing.assert_array_equal(printed, layer(Tensor(array)).numpy())


def updates() -> Any:
    state = Tensor(numpy.zeros(3))
    return lambda x: state.add_(x)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "an update": (updates, errors.TraceError, "updates a tensor of shape"),
    "an update of an argument": (lambda: lambda x: x.add_(1) * 2, errors.TraceError,
                                 "updates its argument x"),
    "a draw": (lambda: lambda x: x + ogive.rand(3), errors.TraceError, "draws random numbers"),
    "dropout that trains": (lambda: nn.Dropout(0.5), errors.TraceError, "after eval"),
    "a function of Python": (
        lambda: lambda x: ogive.custom(lambda given, out: None, [x], ((3,), "float64")),
        errors.TraceError, "Python's"),
    "an argument as it is": (lambda: lambda x: x, errors.TraceError, "clone"),
    "another device": (lambda: lambda x: x.to("CPU:1") * 2, errors.DeviceError, "CPU:1"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_exported_is_refused_and_writes_nothing(name: str, tmp_path: Path) -> None:
    make, error, words = REFUSED[name]
    with raises(error, match=words):
        ogive.export(make(), (Tensor(numpy.ones(3)),), tmp_path / "f.o")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("path", "settings", "error", "words"),
    [
        ("f.so", {}, errors.ArgumentError, "ends in .o"),
        ("2nd.o", {}, errors.ArgumentError, "name of a function"),
        ("f.o", {"cpu": "x86-64-v5"}, errors.ConfigError, "did you mean"),
        ("nowhere/f.o", {}, errors.FileError, "cannot be written"),
    ],
)
def test_bad_settings_are_errors(
    path: str, settings: dict[str, Any], error: type[Exception], words: str, tmp_path: Path
) -> None:
    with raises(error, match=words):
        ogive.export(lambda x: x * 2, (numpy.ones(3),), tmp_path / path, **settings)
