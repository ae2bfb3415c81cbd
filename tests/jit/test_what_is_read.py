"""Captured functions see numbers as plain ones do, in whatever they are kept."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import enum
import functools
import operator
import sys
import types
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from tests.jit.programs import (
    Capture,
    Holder,
    Program,
    compare,
    results,
    set_attribute,
    set_item,
)  # fmt: skip

PROGRAMS: dict[str, Program] = {}

number = 1.0


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


# Containers


@program
def entry_of_a_list(capture: Capture) -> Any:
    s = [1.0]
    return results(capture(lambda x: x * s[0]), set_item(s, 0, 10.0), set_item(s, 0, -0.0))


@program
def entry_of_a_dictionary(capture: Capture) -> Any:
    s = {"a": 1.0}
    return results(capture(lambda x: x * s["a"]), set_item(s, "a", 3.0), lambda: s.update(a=4.0))


@program
def deeply_nested_containers(capture: Capture) -> Any:
    s: Any = {"a": [(1.0, {"b": [2.0]})]}
    inner = s["a"][0][1]["b"]
    return results(capture(lambda x: x * s["a"][0][1]["b"][0]), set_item(inner, 0, 5.0))


@program
def length_of_a_list(capture: Capture) -> Any:
    s = [1.0]
    return results(capture(lambda x: x * len(s)), lambda: s.append(1.0), s.clear)


@program
def sum_over_a_list(capture: Capture) -> Any:
    s = [1.0, 2.0]
    return results(
        capture(lambda x: x * sum(s)), lambda: s.append(3.0), lambda: s.pop(0), s.reverse
    )


@program
def membership(capture: Capture) -> Any:
    s = {"relu"}
    return results(
        capture(lambda x: x.relu() if "relu" in s else x), s.clear, lambda: s.add("relu")
    )


@program
def order_of_a_dictionary(capture: Capture) -> Any:
    s = {"double": 2.0, "add": 1.0}

    def function(x: Tensor) -> Any:
        for name, value in s.items():
            x = x * value if name == "double" else x + value
        return x

    def turn() -> None:
        s["double"] = s.pop("double")

    return results(capture(function), turn, lambda: s.pop("add"))


@program
def keys_with_the_same_values(capture: Capture) -> Any:
    s = {"relu": 1.0}

    def rename() -> None:
        s["abs"] = s.pop("relu")

    return results(capture(lambda x: getattr(x, next(iter(s)))()), rename)


@program
def get_with_a_default(capture: Capture) -> Any:
    s: dict[str, float] = {}
    return results(capture(lambda x: x * s.get("a", 2.0)), set_item(s, "a", 3.0), s.clear)


@program
def double_ended_queue(capture: Capture) -> Any:
    s = collections.deque([1.0, 2.0], maxlen=2)
    return results(capture(lambda x: x * s[0] + s[-1]), lambda: s.append(5.0), lambda: s.rotate(1))


@program
def dictionary_with_defaults(capture: Capture) -> Any:
    s: Any = collections.defaultdict(lambda: 2.0)
    return results(capture(lambda x: x * s["a"]), set_item(s, "a", 3.0))


@program
def ordered_dictionary(capture: Capture) -> Any:
    s = collections.OrderedDict(a=2.0, b=3.0)
    return results(
        capture(lambda x: x * next(iter(s.values()))), lambda: s.move_to_end("a")
    )


@program
def user_dictionary(capture: Capture) -> Any:
    s = collections.UserDict({"a": 2.0})
    return results(capture(lambda x: x * s["a"]), set_item(s, "a", 3.0))


@program
def chain_of_dictionaries(capture: Capture) -> Any:
    first: dict[str, float] = {}
    s = collections.ChainMap(first, {"a": 2.0})
    return results(capture(lambda x: x * s["a"]), set_item(first, "a", 3.0), first.clear)


@program
def attributes_that_are_a_dictionary(capture: Capture) -> Any:
    class Attributes(dict[str, Any]):
        def __init__(self, **entries: Any) -> None:
            super().__init__(**entries)
            self.__dict__ = self

    s: Any = Attributes(scale=2.0, inner=Attributes(shift=1.0))
    return results(
        capture(lambda x: x * s.scale + s.inner.shift),
        set_attribute(s, "scale", 3.0), set_item(s.inner, "shift", 4.0),
    )  # fmt: skip


@program
def bytes_that_change(capture: Capture) -> Any:
    s = bytearray([1, 2])
    return results(capture(lambda x: x * s[1]), set_item(s, 1, 200))


@program
def mapping_over_a_list(capture: Capture) -> Any:
    s = [2.0, 3.0]
    return results(
        capture(lambda x: functools.reduce(operator.mul, map(float, s), x)), set_item(s, 1, 4.0)
    )


@program
def a_list_in_place_of_another(capture: Capture) -> Any:
    holder = Holder(s=[1.0])
    return results(capture(lambda x: x * holder.s[0]), set_attribute(holder, "s", [2.0]))


# Kinds of numbers


@program
def numbers_that_are_equal_and_differ(capture: Capture) -> Any:
    s: list[Any] = [0.0]
    found = []
    function = capture(lambda x: 1 / (x * 0 + s[0]) if isinstance(s[0], float) else x.long() + s[0])
    for value in (0.0, -0.0, 0, False, 1, True, 1.0):
        s[0] = value
        made = function(Tensor([1.0]))
        found.append((made.tolist(), made.dtype.name))
    return found


@program
def not_a_number(capture: Capture) -> Any:
    s = [1.0]
    made = results(capture(lambda x: x * s[0]), set_item(s, 0, float("nan")), set_item(s, 0, 2.0))
    return np.array(made).tolist()[:2] + np.isnan(np.array(made)).tolist()


@program
def numpy_numbers(capture: Capture) -> Any:
    s: list[Any] = [np.float32(1)]
    return results(
        capture(lambda x: x * float(s[0])), set_item(s, 0, np.float32(2)),
        set_item(s, 0, np.float64(3)),
    )  # fmt: skip


@program
def numpy_arrays(capture: Capture) -> Any:
    s = np.array([1.0, 2.0, 3.0], np.float32)
    return results(
        capture(lambda x: x * float(s[0]) + Tensor(s)), set_item(s, 0, 5.0),
        set_item(s, slice(None), 0.5),
    )  # fmt: skip


@program
def numpy_array_that_is_turned(capture: Capture) -> Any:
    s = np.arange(6, dtype=np.float32).reshape(2, 3)
    return results(capture(lambda x: x * Tensor(s.T[:, 1])), set_item(s, (1, 1), 9.0))


@program
def numpy_array_in_a_computation_of_numpy(capture: Capture) -> Any:
    s = np.ones(3, np.float32)
    return results(capture(lambda x: x * float(s.sum())), lambda: s.__imul__(2))


@program
def texts_and_dtypes(capture: Capture) -> Any:
    s: dict[str, Any] = {"name": "relu", "dtype": ogive.float32}
    return results(
        capture(lambda x: getattr(x, s["name"])().cast(s["dtype"])), set_item(s, "name", "abs"),
        set_item(s, "dtype", ogive.int32),
    )  # fmt: skip


@program
def slices_and_ranges(capture: Capture) -> Any:
    s: list[Any] = [slice(0, 2), range(2)]
    return results(
        capture(lambda x: x[s[0]] + len(s[1])), set_item(s, 0, slice(1, 3)),
        set_item(s, 1, range(5)),
    )  # fmt: skip


class Mode(enum.Enum):
    ADD = 1.0
    SUBTRACT = 2.0


@program
def members_of_enumerations(capture: Capture) -> Any:
    holder = Holder(mode=Mode.ADD)
    return results(
        capture(lambda x: x + holder.mode.value if holder.mode is Mode.ADD else x - 1),
        set_attribute(holder, "mode", Mode.SUBTRACT),
    )


# Objects


@program
def attributes_at_depth(capture: Capture) -> Any:
    outer = Holder(a=Holder(b=[Holder(c=2.0)]))
    return results(
        capture(lambda x: x * outer.a.b[0].c), set_attribute(outer.a.b[0], "c", 3.0),
        set_item(outer.a.b, 0, Holder(c=4.0)), set_attribute(outer, "a", outer.a),
    )  # fmt: skip


@program
def attributes_by_computed_names(capture: Capture) -> Any:
    holder = Holder(scale_0=2.0, scale_1=3.0)
    return results(
        capture(lambda x: x * sum([getattr(holder, f"scale_{n}") for n in range(2)])),
        set_attribute(holder, "scale_1", 7.0),
    )


@program
def attributes_that_come_and_go(capture: Capture) -> Any:
    holder = Holder(other=1)
    return results(
        capture(lambda x: x * holder.scale if hasattr(holder, "scale") else x),
        set_attribute(holder, "scale", 2.0), lambda: delattr(holder, "scale"),
    )  # fmt: skip


@program
def attributes_with_a_default(capture: Capture) -> Any:
    holder = Holder(other=1)
    return results(
        capture(lambda x: x * getattr(holder, "scale", 3.0)), set_attribute(holder, "scale", 2.0)
    )


@program
def all_attributes(capture: Capture) -> Any:
    holder = Holder(a=1.0, b=2.0)
    return results(
        capture(lambda x: x * sum(vars(holder).values())), set_attribute(holder, "b", 5.0),
        set_attribute(holder, "c", 5.0),
    )  # fmt: skip


class Slotted:
    __slots__ = ("inner", "scale")

    def __init__(self) -> None:
        self.scale = 2.0
        self.inner = [1.0]


@program
def objects_with_slots(capture: Capture) -> Any:
    holder = Slotted()
    return results(
        capture(lambda x: x * holder.scale + holder.inner[0]), set_attribute(holder, "scale", 3.0),
        set_item(holder.inner, 0, 2.0),
    )  # fmt: skip


@dataclasses.dataclass
class Settings:
    scale: float = 2.0
    names: list[float] = dataclasses.field(default_factory=lambda: [1.0])

    @property
    def twice(self) -> float:
        return self.scale * 2

    @functools.cached_property
    def thrice(self) -> float:
        return self.scale * 3


@program
def data_classes(capture: Capture) -> Any:
    holder = Settings()
    return results(
        capture(lambda x: x * holder.scale + holder.names[0]), set_attribute(holder, "scale", 3.0),
        lambda: holder.names.insert(0, 9.0),
    )  # fmt: skip


@program
def properties(capture: Capture) -> Any:
    holder = Settings()
    return results(
        capture(lambda x: x * holder.twice + holder.thrice), set_attribute(holder, "scale", 3.0),
        lambda: vars(holder).pop("thrice", None),
    )  # fmt: skip


@program
def attributes_of_a_class(capture: Capture) -> Any:
    class Options:
        scale = 2.0

    class More(Options):
        pass

    holder = More()
    return results(
        capture(lambda x: x * holder.scale), set_attribute(Options, "scale", 3.0),
        set_attribute(More, "scale", 4.0), set_attribute(holder, "scale", 5.0),
    )  # fmt: skip


@program
def attributes_of_the_class_itself(capture: Capture) -> Any:
    class Options:
        scale = 2.0

        @classmethod
        def shifted(cls) -> float:
            return cls.scale + 1

    return results(
        capture(lambda x: x * Options.scale + Options.shifted()),
        set_attribute(Options, "scale", 3.0),
    )


@program
def attributes_made_up_on_demand(capture: Capture) -> Any:
    class Lookup:
        def __init__(self) -> None:
            self.entries = {"scale": 2.0}

        def __getattr__(self, name: str) -> Any:
            return self.entries[name]

    holder = Lookup()
    return results(
        capture(lambda x: x * holder.scale), set_item(holder.entries, "scale", 3.0),
        set_attribute(holder, "scale", 4.0),
    )  # fmt: skip


@program
def attribute_access_of_its_own(capture: Capture) -> Any:
    class Doubling:
        def __init__(self) -> None:
            self.scale = 2.0

        def __getattribute__(self, name: str) -> Any:
            value = super().__getattribute__(name)
            return value * 2 if name == "scale" else value

    holder = Doubling()
    return results(capture(lambda x: x * holder.scale), set_attribute(holder, "scale", 3.0))


@program
def items_of_an_object(capture: Capture) -> Any:
    class Items:
        def __init__(self) -> None:
            self.entries = [2.0]

        def __getitem__(self, at: int) -> float:
            return self.entries[at] * number

    holder = Items()
    return [
        *results(capture(lambda x: x * holder[0]), set_item(holder.entries, 0, 3.0)),
        *results(capture(lambda x: x * holder[0]), set_item(globals(), "number", 3.0)),
    ]


@program
def simple_namespaces(capture: Capture) -> Any:
    holder = types.SimpleNamespace(scale=2.0, inner=types.SimpleNamespace(shift=1.0))
    return results(
        capture(lambda x: x * holder.scale + holder.inner.shift),
        set_attribute(holder, "scale", 3.0), set_attribute(holder.inner, "shift", 3.0),
    )  # fmt: skip


@program
def parsed_arguments(capture: Capture) -> Any:
    arguments = argparse.Namespace(scale=2.0)
    return results(
        capture(lambda x: x * arguments.scale), set_attribute(arguments, "scale", 3.0)
    )


@program
def attributes_of_a_module(capture: Capture) -> Any:
    module = types.ModuleType("options_of_the_test")
    vars(module)["scale"] = 2.0
    return results(capture(lambda x: x * module.scale), set_attribute(module, "scale", 3.0))


@program
def a_module_imported_inside(capture: Capture) -> Any:
    module = types.ModuleType("imported_by_the_test")
    vars(module)["scale"] = 2.0
    sys.modules["imported_by_the_test"] = module

    def function(x: Tensor) -> Any:
        import imported_by_the_test as inside  # type: ignore[import-not-found]

        return x * inside.scale

    found = results(capture(function), set_attribute(module, "scale", 3.0))
    del sys.modules["imported_by_the_test"]
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_captured_function_sees_what_the_plain_one_sees(name: str) -> None:
    compare(PROGRAMS[name], lambda: globals().update(number=1.0))


def test_a_function_made_by_exec_in_a_bare_dictionary_is_looked_into() -> None:
    names: dict[str, Any] = {"scale": [2.0]}
    exec("def function(x): return x * scale[0]", names)
    function = ogive.jit(names["function"])
    assert function(Tensor([1.0])).tolist() == [2.0]
    names["scale"][0] = 3.0
    assert function(Tensor([1.0])).tolist() == [3.0]
