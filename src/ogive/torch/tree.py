"""Modules made from the tables of `names.py`. Each looks its names up when they are read."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

from ogive.torch.names import TAKING_OUT, TREE

PACKAGE = "ogive.torch"
ALIAS = "torch"


def public_names(source: ModuleType) -> set[str]:
    """The public names of a module: those that it defines or collects, without its imports."""
    names = {*vars(source), *getattr(source, "__all__", ())}
    return {name for name in names if is_public(source, name)}


def is_public(source: ModuleType, name: str) -> bool:
    """Whether `name` is one of them."""
    if source.__name__.startswith(f"{PACKAGE}."):
        return name in source.__all__
    if name.startswith("_") or name not in vars(source):
        return False
    value = vars(source)[name]
    if isinstance(value, ModuleType) and name not in getattr(source, "__all__", ()):
        return False
    return getattr(value, "__module__", None) not in ("typing", "__future__", "collections.abc")


class Namespace(ModuleType):
    """A module of `ogive.torch`. Its names are those of its source modules, the same objects."""

    def __getattr__(self, name: str) -> Any:
        below = self.__name__.removeprefix(f"{PACKAGE}.")
        if name == "__all__":  # what `from torch.nn import *` gives
            return [each for each in dir(self) if not each.startswith("_")]
        if f"{below}.{name}" in TREE:
            return importlib.import_module(f"{self.__name__}.{name}")
        for source in map(importlib.import_module, TREE[below]):
            if is_public(source, name):
                found = getattr(source, name)
                if below in TAKING_OUT and isinstance(found, FunctionType):
                    from ogive.torch.tensors.functions import taking_out

                    found = taking_out(found)
                setattr(self, name, found)
                return found
        message = f"module {self.__name__!r} has no attribute {name!r}; see docs/pytorch.md"
        raise AttributeError(message, name=name, obj=self)

    def __dir__(self) -> list[str]:
        below = self.__name__.removeprefix(f"{PACKAGE}.")
        names = {path.rpartition(".")[2] for path in TREE if path.rpartition(".")[0] == below}
        for source in map(importlib.import_module, TREE[below]):
            names |= public_names(source)
        return sorted(names)


class _Maker(importlib.abc.Loader):
    """Makes a module of the table."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        made = Namespace(spec.name, f"`{spec.name.removeprefix('ogive.')}`, as Ogive has it.")
        made.__path__ = []  # the table alone finds the modules below it
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: names are looked up when they are read."""


class _Alias(importlib.abc.Loader):
    """Gives a module of `ogive.torch` under PyTorch's name for it."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._module = importlib.import_module(f"ogive.{spec.name}")
        self._own = self._module.__spec__
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own  # the import system has set the alias's own


class TreeFinder(importlib.abc.MetaPathFinder):
    """An import finder for modules such as `ogive.torch.nn`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.startswith(f"{PACKAGE}.") and name.removeprefix(f"{PACKAGE}.") in TREE:
            return importlib.util.spec_from_loader(name, _Maker(), is_package=True)
        return None


class AliasFinder(importlib.abc.MetaPathFinder):
    """An import finder for `torch` and the modules below it, which are those of `ogive.torch`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != ALIAS and not name.startswith(f"{ALIAS}."):
            return None
        if name != ALIAS and name.removeprefix(f"{ALIAS}.") not in TREE:
            raise ModuleNotFoundError(
                f"No module named {name!r} in ogive.torch; see docs/pytorch.md", name=name
            )
        return importlib.util.spec_from_loader(name, _Alias(), is_package=True)


_finder = AliasFinder()
_set_aside: dict[str, ModuleType] = {}


def install() -> None:
    """Make `import torch` import `ogive.torch`, in this process, from now on.

    If PyTorch itself was imported, its modules are set aside. `uninstall` restores them.

    >>> import ogive.torch
    >>> ogive.torch.install()
    >>> import torch.nn.functional
    >>> torch is ogive.torch
    True
    >>> ogive.torch.uninstall()
    """
    if _finder in sys.meta_path:
        return
    _set_aside.update(_take_out())
    sys.meta_path.insert(0, _finder)


def uninstall() -> None:
    """Undo `install`: `import torch` imports PyTorch again, with its modules as they were."""
    if _finder not in sys.meta_path:
        return
    sys.meta_path.remove(_finder)
    _take_out()
    sys.modules.update(_set_aside)
    _set_aside.clear()


def _take_out() -> dict[str, ModuleType]:
    """Remove the modules named `torch` from `sys.modules`, and return them."""
    names = [name for name in sys.modules if name == ALIAS or name.startswith(f"{ALIAS}.")]
    return {name: sys.modules.pop(name) for name in names}


def add_finder() -> None:
    """Make the modules of the tree importable by their dotted paths."""
    sys.meta_path.append(TreeFinder())
