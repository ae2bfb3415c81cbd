"""An e-graph: classes of equal values, over interned nodes.

A class holds all known ways to compute one value. A way is a *form*: an op over classes. Two forms
with equal ops over equal classes are one form, so that an equality below implies those above
(congruence):

    add x*2, x+x, (x*2)+1, (x+x)+1; then  x*2 = x+x   implies   (x*2)+1 = (x+x)+1

Every class has a `representative`, a node that computes its value. Rules map nodes to nodes and do
not know about classes.
"""

from __future__ import annotations

from typing import Any

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_parts.node_table import exact_argument
from ogive.compiler.ir.ops import Op
from ogive.named import NamedTuple


class Form(NamedTuple):
    """A way to compute a value: an op over classes. `argument` has constants by their bits."""

    op: Op
    dtype: DType
    argument: Any
    tag: Any
    below: tuple[int, ...]


class Equalities:
    """Classes of equal values. `find` maps any number that a class had to its present number."""

    def __init__(self) -> None:
        self._leaders: list[int] = []
        self._forms: dict[Form, int] = {}
        self._numbers: dict[UOp, int] = {}
        self._members: list[dict[Form, UOp]] = []
        self._is_stale = False
        self.representatives: list[UOp] = []
        self.found_by: dict[Form, str] = {}

    def __len__(self) -> int:
        """The number of forms."""
        return len(self._forms)

    def find(self, number: int) -> int:
        """The present number of a class."""
        leaders = self._leaders
        while leaders[number] != number:
            leaders[number] = leaders[leaders[number]]
            number = leaders[number]
        return number

    def classes(self) -> list[int]:
        """All classes, in order of creation."""
        return [number for number, leader in enumerate(self._leaders) if number == leader]

    def members(self, number: int) -> dict[Form, UOp]:
        """The forms of a class, each with a node that has its op and argument."""
        return self._members[number]

    def add(self, root: UOp, rule: str = "") -> int:
        """The class of a node. New nodes are added with all below them."""
        numbers = self._numbers
        stack = [root]
        while stack:
            node = stack[-1]
            if node in numbers:
                stack.pop()
                continue
            missing = [source for source in node.src if source not in numbers]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            numbers[node] = self._add_form(node, rule)
        return self.find(numbers[root])

    def _add_form(self, node: UOp, rule: str) -> int:
        below = tuple([self.find(self._numbers[source]) for source in node.src])
        form = Form(node.op, node.dtype, exact_argument(node.op, node.arg), node.tag, below)
        known = self._forms.get(form)
        if known is not None:
            return known
        number = len(self._leaders)
        self._leaders.append(number)
        self._forms[form] = number
        self._members.append({form: node})
        self.representatives.append(node)
        if rule:
            self.found_by[form] = rule
        return number

    def union(self, first: int, second: int) -> bool:
        """Merge two classes; gives whether they were different. `rebuild` must follow."""
        kept, gone = sorted([self.find(first), self.find(second)])
        if kept == gone:
            return False
        old, new = self.representatives[kept], self.representatives[gone]
        assert old.dtype is new.dtype and old.shape == new.shape, f"{old!r} is no {new!r}"
        self._leaders[gone] = kept
        self._members[kept].update(self._members[gone])
        self._members[gone] = {}
        self._is_stale = True
        return True

    def rebuild(self) -> None:
        """Merge forms whose classes were merged, and the classes of such forms.

        Most classes come after those below them, so one pass finds nearly all.
        """
        while self._is_stale:
            self._is_stale = False
            self._forms = {}
            for number in self.classes():
                if self._leaders[number] == number:
                    self._renew_members(number)

    def _renew_members(self, number: int) -> None:
        find, members = self.find, self._members
        old, members[number] = members[number], {}
        for form, node in old.items():
            renewed = form._replace(below=tuple([find(each) for each in form.below]))
            members[find(number)].setdefault(renewed, node)
            if renewed != form and form in self.found_by:
                self.found_by.setdefault(renewed, self.found_by[form])
            known = self._forms.setdefault(renewed, number)
            if find(known) != find(number):
                self.union(known, number)
