"""Models that PyTorch exports give what PyTorch gives, on several shapes."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy
import torch

import ogive


class Classifier(torch.nn.Module):  # type: ignore[misc]
    """A small convolutional network."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 8, 3, 2, 1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.pool = torch.nn.MaxPool2d(3, 2, 1)
        self.up = torch.nn.Upsample(scale_factor=2, mode="bilinear")
        self.last = torch.nn.Linear(8 * 4 * 4, 10)

    def forward(self, x: Any) -> Any:
        x = self.up(self.pool(torch.relu(self.norm(self.convolution(x)))))
        x = torch.nn.functional.adaptive_avg_pool2d(x, 4)
        return self.last(x.flatten(1)).softmax(-1)


class Tagger(torch.nn.Module):  # type: ignore[misc]
    """An embedding, attention, and an LSTM in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 32)
        self.encoder = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.lstm = torch.nn.LSTM(32, 16, batch_first=True, bidirectional=True)
        self.last = torch.nn.Linear(32, 5)

    def forward(self, words: Any) -> Any:
        made, _ = self.lstm(self.encoder(self.embedding(words)))
        return self.last(made)


class Decoder(torch.nn.Module):  # type: ignore[misc]
    """A step of a language model whose keys and values are cached."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(50, 32)
        self.query, self.key, self.value, self.last = (torch.nn.Linear(32, 32) for _ in range(4))

    def forward(self, words: Any, keys: Any, values: Any) -> Any:
        x = self.table(words)
        batch, count, _ = x.shape

        def split(y: Any) -> Any:
            return y.view(batch, count, 4, 8).transpose(1, 2)

        keys = torch.cat([keys, split(self.key(x))], 2)
        values = torch.cat([values, split(self.value(x))], 2)
        chances = (split(self.query(x)) @ keys.transpose(-1, -2) / 8**0.5).softmax(-1)
        mixed = (chances @ values).transpose(1, 2).reshape(batch, count, 32)
        return x + self.last(mixed), keys, values


def export(module: Any, example: Any, axes: dict[int, str]) -> ogive.onnx.Model:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an exporter that is to be replaced
        torch.onnx.export(
            module.eval(), (example,), file, dynamo=False, opset_version=17,
            input_names=["x"], output_names=["y"], dynamic_axes={"x": axes},
        )  # fmt: skip
    return ogive.onnx.load(file.getvalue())


def check(model: ogive.onnx.Model, module: Any, x: Any) -> None:
    wanted = module(x).detach().numpy()
    numpy.testing.assert_allclose(model(x.numpy()).numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_a_convolutional_network_gives_what_pytorch_gives() -> None:
    module = Classifier()
    model = export(module, torch.randn(2, 3, 32, 32), {0: "batch"})
    for batch in (2, 3):
        check(model, module, torch.randn(batch, 3, 32, 32))
    check(model, module, torch.randn(2, 3, 32, 32))
    assert model._captured.cache_info().traces == 2


def test_a_tagger_with_attention_and_an_lstm_gives_what_pytorch_gives() -> None:
    module = Tagger()
    model = export(module, torch.randint(0, 50, (2, 7)), {})
    for _ in range(2):
        check(model, module, torch.randint(0, 50, (2, 7)))
    assert model._captured.cache_info().traces == 1


def test_a_cache_that_grows_compiles_nothing_after_its_second_step() -> None:
    module, file = Decoder().eval(), io.BytesIO()
    past = {0: "batch", 2: "past"}
    words = torch.randint(0, 50, (1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module, (words, torch.randn(1, 4, 3, 8), torch.randn(1, 4, 3, 8)), file, dynamo=False,
            opset_version=17, input_names=["words", "keys", "values"],
            output_names=["y", "new_keys", "new_values"],
            dynamic_axes={"words": {0: "batch"}, "keys": past, "values": past},
        )  # fmt: skip
    model = ogive.onnx.load(file.getvalue())
    keys = values = torch.randn(1, 4, 3, 8)
    for _ in range(6):
        words = torch.randint(0, 50, (1, 1))
        made = model(words.numpy(), keys.numpy(), values.numpy())
        wanted = [each.detach() for each in module(words, keys, values)]
        for one, other in zip(made, wanted, strict=True):
            numpy.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)
        _, keys, values = wanted
    assert model._captured.cache_info().traces == 2
