"""Attributes of PyTorch's tensors that ours cannot have. Their errors say what to do instead."""

from __future__ import annotations

from typing import Any, NoReturn


class Missing:
    """An attribute that raises `AttributeError` with its own message, so `hasattr` gives False."""

    def __init__(self, advice: str) -> None:
        self._advice = advice

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, tensor: Any, owner: type[Any]) -> NoReturn:
        self._refuse(tensor)

    def __set__(self, tensor: Any, value: Any) -> NoReturn:
        self._refuse(tensor)

    def _refuse(self, tensor: Any) -> NoReturn:
        message = f"tensors have no attribute {self._name!r}: {self._advice}"
        raise AttributeError(message, name=self._name, obj=tensor)


STRIDES = "they show no memory; numpy(), from_dlpack() and from_numpy() share values"
