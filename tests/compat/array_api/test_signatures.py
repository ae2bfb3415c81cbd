"""Every name of the array API standard is there, and takes the arguments the standard gives it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import ogive
from ogive import Tensor
from ogive.compat.function_names import NAMES
from tests.compat.array_api.standard import (
    ATTRIBUTES,
    CONSTANTS,
    DTYPES,
    EXTENSIONS,
    FUNCTIONS,
    METHODS,
)
from tests.raising import raises

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
ALL = [("", name, signature) for name, signature in FUNCTIONS.items()] + [
    (extension, name, signature)
    for extension, functions in EXTENSIONS.items()
    for name, signature in functions.items()
]


def function_of(extension: str, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(getattr(ogive, extension) if extension else ogive, name)
    return found


def calls(signature: inspect.Signature) -> list[tuple[list[str], list[str]]]:
    """The ways to call a function: by position as far as possible, and by keyword."""
    parameters = list(signature.parameters.values())
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters):
        named = [each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]
        return [(["first", "second"], named)]
    first = [each.name for each in parameters if each.kind in POSITIONAL]
    only = [each.name for each in parameters if each.kind is inspect.Parameter.POSITIONAL_ONLY]
    keywords = [each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]
    return [(first, keywords), (only, [name for name in first if name not in only] + keywords)]


@pytest.mark.parametrize(("extension", "name", "signature"), ALL)
def test_functions_take_the_arguments_of_the_standard(
    extension: str, name: str, signature: inspect.Signature
) -> None:
    own = inspect.signature(function_of(extension, name))
    for positions, keywords in calls(signature):
        own.bind(*positions, **dict.fromkeys(keywords))


@pytest.mark.parametrize(("extension", "name", "signature"), ALL)
def test_arguments_have_the_defaults_of_the_standard(
    extension: str, name: str, signature: inspect.Signature
) -> None:
    own = inspect.signature(function_of(extension, name)).parameters
    for parameter in signature.parameters.values():
        if parameter.default is inspect.Parameter.empty or parameter.name not in own:
            continue
        found = own[parameter.name].default
        # None stands for these where PyTorch has None.
        same = found == parameter.default or (
            found is None and parameter.name in ("norm", "side", "ord", "indexing")
        )
        assert same, f"{name}: {parameter.name} is {found!r}, not {parameter.default!r}"


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_have_their_names(name: str) -> None:
    assert getattr(ogive, name).name == name


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_are_pythons(name: str) -> None:
    value = getattr(ogive, name)
    assert value is None if name == "newaxis" else isinstance(value, float)


@pytest.mark.parametrize("name", [*ATTRIBUTES, *METHODS])
def test_tensors_have_the_attributes_of_arrays(name: str) -> None:
    assert hasattr(Tensor, name)


def test_the_namespace_says_which_version_it_is() -> None:
    assert ogive.__array_api_version__ == "2024.12"
    x = Tensor([1.5])
    assert x.__array_namespace__(api_version="2024.12") is ogive
    with raises(ogive.errors.ArgumentError, match=r"'1999\.12' is not supported"):
        x.__array_namespace__(api_version="1999.12")


def test_the_namespace_describes_itself() -> None:
    info = ogive.__array_namespace_info__()
    assert set(info.dtypes()) == set(DTYPES)
    assert set(info.dtypes(kind="complex floating")) == {"complex64", "complex128"}
    assert info.default_dtypes()["real floating"] is ogive.float32
    assert info.default_device() in info.devices()
    assert info.capabilities()["data-dependent shapes"]


def test_names_are_listed_and_unknown_ones_refused() -> None:
    assert set(NAMES) <= set(dir(ogive))
    assert not {"Any", "TYPE_CHECKING", "annotations", "importlib", "sys"} & set(dir(ogive))
    with raises(AttributeError, match="no attribute 'expp'"):
        _ = ogive.expp


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_of_a_chapter_is_in_its_module(name: str) -> None:
    module = __import__(f"ogive.compat.{NAMES[name]}", fromlist=[name])
    found, own = getattr(ogive, name), getattr(module, name)
    assert found is own or getattr(found, "__wrapped__", None) is own
