"""Inputs for a model: read from files, or random."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy

from ogive.errors import ArgumentError, FileError, nearest
from ogive.onnx import Info, Model

Array = numpy.ndarray[Any, Any]

USUAL_LENGTH = 16
"""The length of a variable axis whose length is not given."""

USUAL_PICTURE = 224
"""The rows and columns of a picture if the model does not fix them."""

MOST_LARGE = 100
"""Random integers are below this number, since most inputs are numbers of words or classes."""

MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""The mean and deviation of the channels of photographs in ImageNet, with which most networks for
pictures are trained."""


def make_inputs(
    model: Model, given: Sequence[str], batch: int, sizes: Sequence[str], seed: int = 0
) -> dict[str, Array]:
    """An array for each input of a model. Raises `ArgumentError` and `FileError`."""
    _check_batch(model, batch)
    files = _pairs(given, "--input", [info.name for info in model.inputs])
    named = {
        name: int(length) for info in model.inputs for name, length in _named(info, batch).items()
    }
    for name, text in _pairs(sizes, "--size", list(named)).items():
        if not text.isdigit():
            raise ArgumentError(f"--size {name}={text}: the length of an axis must be a number")
        named[name] = int(text)
    generator = numpy.random.default_rng(seed)
    arrays = {}
    for info in model.inputs:
        lengths = _lengths(info, named, batch)
        if info.name in files:
            arrays[info.name] = _read(info, Path(files[info.name]), lengths)
        else:
            arrays[info.name] = _draw(info, lengths, generator)
    return arrays


def _check_batch(model: Model, batch: int) -> None:
    if batch < 0:
        raise ArgumentError(f"--batch {batch}: the length of an axis is 0 or more")
    firsts = [info.shape[0] for info in model.inputs if info.shape]
    if batch != 1 and firsts and all(isinstance(length, int) for length in firsts):
        lengths = ", ".join(str(info) for info in model.inputs)
        raise ArgumentError(
            f"--batch {batch}: no input of this model has a first axis that may change: {lengths}"
        )


def _pairs(texts: Sequence[str], option: str, known: list[str]) -> dict[str, str]:
    """The values of NAME=VALUE options, by name. Raises `ArgumentError`."""
    pairs = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark:
            raise ArgumentError(f"{option} {text}: write {option} NAME=VALUE")
        if name not in known:
            raise ArgumentError(
                f"{option} {text}: there is no {name!r}{nearest(name, known)}; there are {known}"
            )
        pairs[name] = value
    return pairs


def _named(info: Info, batch: int) -> dict[str, int]:
    """The default lengths of an input's variable axes, by name."""
    return {
        length: _usual(info, axis, batch)
        for axis, length in enumerate(info.shape or ())
        if isinstance(length, str)
    }


def _usual(info: Info, axis: int, batch: int) -> int:
    if axis == 0:
        return batch
    is_picture = len(info.shape or ()) == 4 and info.dtype.startswith(("float", "uint8"))
    return USUAL_PICTURE if is_picture else USUAL_LENGTH


def _lengths(info: Info, named: dict[str, int], batch: int) -> list[int]:
    return [
        length if isinstance(length, int)
        else named[length] if isinstance(length, str)
        else _usual(info, axis, batch)
        for axis, length in enumerate(info.shape or ())
    ]  # fmt: skip


def _draw(info: Info, lengths: list[int], generator: numpy.random.Generator) -> Array:
    if info.kind != "tensor":
        raise ArgumentError(f"the input {info.name!r} is a {info.kind}; only tensors can be random")
    if info.dtype == "string":
        return numpy.full(lengths, "text", object)
    if info.dtype == "bool" or "mask" in info.name:
        return numpy.ones(lengths, info.dtype)
    if info.dtype.startswith(("int", "uint")):
        return generator.integers(0, MOST_LARGE, lengths).astype(info.dtype)
    return generator.normal(size=lengths).astype(info.dtype)


def _read(info: Info, path: Path, lengths: list[int]) -> Array:
    if path.suffix.lower() in ("", ".npz", ".csv", ".txt", ".json", ".pt"):
        raise ArgumentError(
            f"--input {info.name}={path}: an input is an array in a .npy file (numpy.save writes "
            "one) or a picture"
        )
    if path.suffix.lower() != ".npy":
        return _read_picture(info, path, lengths)
    try:
        array: Array = numpy.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise FileError(f"--input {info.name}={path}: {_reason(error)}") from None
    return array


def _read_picture(info: Info, path: Path, lengths: list[int]) -> Array:
    """Read a photograph: cropped to its middle, and normalized as for training."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise ArgumentError(
            f"--input {info.name}={path}: reading pictures needs Pillow (pip install pillow); "
            "arrays in .npy files do not"
        ) from None
    if len(lengths) != 4 or 3 not in (lengths[1], lengths[3]):
        raise ArgumentError(
            f"--input {info.name}={path}: an input of shape {lengths} does not take pictures"
        )
    is_last = lengths[3] == 3
    height, width = lengths[1:3] if is_last else lengths[2:]
    try:
        picture = Image.open(path).convert("RGB")
    except (OSError, UnidentifiedImageError) as error:
        raise FileError(f"--input {info.name}={path}: {_reason(error)}") from None
    scale = max(height / picture.height, width / picture.width)
    whole = picture.resize(
        (max(round(picture.width * scale), width), max(round(picture.height * scale), height))
    )
    left, top = (whole.width - width) // 2, (whole.height - height) // 2
    pixels = numpy.asarray(whole.crop((left, top, left + width, top + height)))
    if info.dtype.startswith("float"):
        pixels = ((pixels / 255 - MEAN) / SPREAD).astype(info.dtype)
    batch = pixels[None] if is_last else pixels.transpose(2, 0, 1)[None]
    return numpy.repeat(batch, lengths[0], 0)


def _reason(error: Exception) -> str:
    """The message of an error, without its number."""
    return getattr(error, "strerror", None) or str(error)
