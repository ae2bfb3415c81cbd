"""Named tuples and frozen records behave as those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest

from ogive.named import NamedTuple, record
from tests.raising import raises


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


@record(frozen=True)
class Setting:
    """A record of which one field does not count."""

    name: str
    kept: tuple[int, ...] = ()
    beside: int = dataclasses.field(default=0, compare=False)


@record
class Basket:
    """A record that may change, and says of itself what it holds."""

    things: list[int] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self.first = self.things[:1]

    def __repr__(self) -> str:
        return f"Basket of {self.things}"


@record(eq=False)
class Thing:
    """A record that equals itself alone."""

    name: str = ""


@record(frozen=True)
class Nothing:
    """A record without fields."""


def test_a_named_tuple_has_fields_defaults_and_methods() -> None:
    assert Place(1) == Place(row=1, column=7) == (1, 7)
    assert (Place(2).row, Place(2).column, Place(2).both) == (2, 7, 9)
    assert Place._fields == ("row", "column") and Place.__doc__ == "A place."
    assert repr(Place(1, 2)) == "Place(row=1, column=2)"
    assert Place(1)._replace(column=3) == (1, 3) and Place(1)._asdict() == {"row": 1, "column": 7}


def test_fields_of_a_named_tuple_are_replaced_by_their_names() -> None:
    assert Corner(2)._replace(column=5) == (2, 5) and type(Corner(2)._replace(row=1)) is Corner
    with raises(ValueError, match="Place has no fields rows"):
        Place(1)._replace(rows=2)  # type: ignore[call-arg]


@pytest.mark.parametrize("earlier", [0, 1, 40])
def test_the_first_instances_are_made_as_all_others_are(earlier: int) -> None:
    class Pair(NamedTuple):
        left: int
        right: int = 7

    make: Any = Pair
    for number in range(earlier):
        assert Pair(number) == (number, 7)
    for values, names in [((), {}), ((1, 2, 3), {}), ((1,), {"left": 2}), ((1,), {"wrong": 2})]:
        with pytest.raises(TypeError):
            make(*values, **names)
    assert Pair(1, right=3) == Pair(right=3, left=1) == (1, 3)


def test_a_named_tuple_refuses_what_does_not_fit() -> None:
    make: Any = Place
    for given, named in (((), {}), ((1, 2, 3), {}), ((1,), {"depth": 2}), ((1,), {"row": 2})):
        with raises(TypeError, match="Place"):
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
    other: object = "a"
    assert Setting("a") != Setting("b") and Setting("a") != other
    assert repr(Setting("a")) == "Setting(name='a', kept=(), beside=0)"


def test_records_are_frozen_and_can_be_replaced() -> None:
    setting: Any = Setting("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        setting.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del setting.name
    assert dataclasses.replace(setting, name="b") == Setting("b")


def test_a_record_is_a_dataclass_whose_arguments_are_known_before_the_first_instance() -> None:
    assert dataclasses.is_dataclass(Setting) and dataclasses.asdict(Setting("a"))["name"] == "a"
    assert str(inspect.signature(Thing)) == "(name='')"
    make: Any = Setting
    for given, named in (((), {}), (("a", (), 1, 2), {}), (("a",), {"depth": 2})):
        with raises(TypeError, match=r"Setting\.__init__"):
            make(*given, **named)


def test_a_record_that_is_not_frozen_changes_and_has_no_hash() -> None:
    basket = Basket()
    basket.things.append(1)
    basket.things = [*basket.things, 2]
    assert basket == Basket([1, 2]) and repr(basket) == "Basket of [1, 2]"
    assert basket.first == [] and Basket([3, 4]).first == [3] and Basket().things == []
    with raises(TypeError, match="unhashable"):
        hash(basket)


def test_a_record_without_equality_equals_itself_alone() -> None:
    thing = Thing("a")
    assert thing == thing and thing != Thing("a") and hash(thing) != hash(Thing("a"))


def test_records_without_fields_are_equal() -> None:
    assert Nothing() == Nothing() and hash(Nothing()) == hash(Nothing())
    assert repr(Nothing()) == "Nothing()"
