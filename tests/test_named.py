"""Named tuples and frozen records behave as those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from ogive.named import Compared, NamedTuple


class Place(NamedTuple):
    """A place."""

    row: int
    column: int = 7

    @property
    def both(self) -> int:
        """The sum."""
        return self.row + self.column


class Corner(Place):
    """A place in the first column."""

    __slots__ = ()

    def __new__(cls, row: int) -> Corner:
        return super().__new__(cls, row, 0)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Setting(Compared):
    """A record of which one field does not count."""

    name: str
    kept: tuple[int, ...] = ()
    beside: int = dataclasses.field(default=0, compare=False)


def test_a_named_tuple_has_fields_defaults_and_methods() -> None:
    assert Place(1) == Place(row=1, column=7) == (1, 7)
    assert (Place(2).row, Place(2).column, Place(2).both) == (2, 7, 9)
    assert Place._fields == ("row", "column") and Place.__doc__ == "A place."
    assert repr(Place(1, 2)) == "Place(row=1, column=2)"
    assert Place(1)._replace(column=3) == (1, 3) and Place(1)._asdict() == {"row": 1, "column": 7}


def test_a_named_tuple_refuses_what_does_not_fit() -> None:
    make: Any = Place
    for given, named in (((), {}), ((1, 2, 3), {}), ((1,), {"depth": 2}), ((1,), {"row": 2})):
        with pytest.raises(TypeError, match="Place"):
            make(*given, **named)
    with pytest.raises(AttributeError):
        make(1).row = 2


def test_a_class_of_a_named_tuple_may_make_its_instances_otherwise() -> None:
    assert Corner(3) == (3, 0) and type(Corner(3)) is Corner
    assert Place(3) == (3, 7)


def test_named_tuples_and_records_survive_copies_and_pickles() -> None:
    for value in (Place(1, 2), Setting("a", (1, 2))):
        assert pickle.loads(pickle.dumps(value)) == value
        assert copy.copy(value) == value


def test_records_are_equal_in_all_that_counts() -> None:
    assert Setting("a", (1,), beside=1) == Setting("a", (1,), beside=2)
    assert hash(Setting("a", beside=1)) == hash(Setting("a", beside=2))
    assert Setting("a") != Setting("b") and Setting("a") != "a"
    assert repr(Setting("a")) == "Setting(name='a', kept=(), beside=0)"


def test_records_are_frozen_and_can_be_replaced() -> None:
    record: Any = Setting("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.name = "b"
    assert dataclasses.replace(record, name="b") == Setting("b")
