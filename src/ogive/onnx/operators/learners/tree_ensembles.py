"""Ensembles of trees (ai.onnx.ml): all trees of all rows go down a level at a time."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call, index_tensor
from ogive.onnx.elements import Array
from ogive.onnx.operators.learners.linear_models import label_pairs, label_scores, transform_scores
from ogive.onnx.operators.shapes.movement import shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.tensor import Tensor

DOMAIN = "ai.onnx.ml"

MODES = {
    "BRANCH_LEQ": Tensor.le, "BRANCH_LT": Tensor.lt, "BRANCH_GTE": Tensor.ge,
    "BRANCH_GT": Tensor.gt, "BRANCH_EQ": Tensor.eq, "BRANCH_NEQ": Tensor.ne,
}  # fmt: skip
"""The ways in which a node compares the feature of a row with its threshold."""

NUMBERED = [*MODES, "BRANCH_MEMBER"]
"""The modes by the numbers that they have since version 5."""


MOST_LEVELS = 1024
"""Trees of more levels are refused, and so are those that lead back to themselves."""


class Forest:
    """Trees as tables over their nodes; a leaf is its own child, whatever is compared."""

    def __init__(self, c: Call, count: int) -> None:
        self.call = c
        self.features = numpy.zeros(count, numpy.int64)
        self.thresholds = numpy.zeros(count, numpy.float64)
        self.modes = numpy.zeros(count, numpy.int64)
        self.missing = numpy.zeros(count, bool)
        self.children = numpy.stack([numpy.arange(count)] * 2, 1)  # where false, where true
        self.roots: list[int] = []

    def depth(self) -> int:
        """The number of levels below the roots. Refuses trees that have no end."""
        level = numpy.unique(numpy.array(self.roots, numpy.int64))
        for depth in range(MOST_LEVELS):
            level = level[self._inner()[level]]
            if not level.size:
                return depth
            level = numpy.unique(self.children[level])
        raise self.call.refuse(f"its trees have more than {MOST_LEVELS} levels, or no end")

    def leaves(self, x: Tensor) -> Tensor:
        """The leaf of each row in each tree: [rows, trees]."""
        rows = shape_of(x)[0]
        at = index_tensor(self.roots).reshape(1, -1).expand(rows, len(self.roots))
        features, children = index_tensor(self.features), index_tensor(self.children.reshape(-1))
        thresholds = Tensor.from_numpy(self.thresholds).cast(x.dtype)
        for _ in range(self.depth()):
            given = x.gather(1, _look_up(features, at))
            goes = self._compare(given, _look_up(thresholds, at), at)
            if self.missing.any():
                kept = _look_up(Tensor.from_numpy(self.missing), at)
                goes = goes.logical_or(given.isnan().logical_and(kept))
            at = _look_up(children, at * 2 + goes.cast(dtypes.int64)).contiguous()
        return at

    def _compare(self, given: Tensor, thresholds: Tensor, at: Tensor) -> Tensor:
        kinds = sorted({int(mode) for mode in self.modes[self._inner()]}) or [0]
        compare = list(MODES.values())
        goes_left = compare[kinds[0]](given, thresholds)
        if len(kinds) > 1:
            modes = _look_up(index_tensor(self.modes), at)
            for kind in kinds[1:]:
                goes_left = compare[kind](given, thresholds).where(modes == kind, goes_left)
        return goes_left

    def _inner(self) -> Array:
        has_children = self.children != numpy.arange(len(self.children))[:, None]
        is_inner: Array = has_children.any(1)
        return is_inner


def _look_up(table: Tensor, at: Tensor) -> Tensor:
    """Elements of a table of one axis, by indices of any shape."""
    return table.index_select(0, at.reshape(-1)).reshape(*at.shape)


def _read_forest(c: Call) -> tuple[Forest, dict[tuple[int, int], int]]:
    """The trees as versions before 5 write them: nodes by the numbers of tree and node."""
    trees, nodes = c.get("nodes_treeids") or [], c.get("nodes_nodeids") or []
    places = {key: place for place, key in enumerate(zip(trees, nodes, strict=False))}
    count = len(trees)
    columns = {
        name: _column(c, name, count)
        for name in ("nodes_modes", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids")
    }
    values = c.get("nodes_values_as_tensor")
    values = c.get("nodes_values") if values is None else numpy.asarray(values).tolist()
    forest = Forest(c, count)
    try:
        for place, mode in enumerate(columns["nodes_modes"]):
            if mode == "LEAF":
                continue
            forest.modes[place] = NUMBERED[: len(MODES)].index(mode)
            forest.features[place] = columns["nodes_featureids"][place]
            forest.thresholds[place] = values[place]
            sides = columns["nodes_falsenodeids"][place], columns["nodes_truenodeids"][place]
            forest.children[place] = [places[trees[place], side] for side in sides]
    except (KeyError, ValueError, IndexError, TypeError, OverflowError) as error:
        raise c.refuse(f"its trees are damaged: {error}") from None
    forest.missing = numpy.array(c.get("nodes_missing_value_tracks_true") or [0] * count, bool)
    if len(forest.missing) != count:
        raise c.refuse(f"it has {len(forest.missing)} flags for missing values of {count} nodes")
    firsts: dict[int, int] = {}
    for place, tree in enumerate(trees):
        firsts.setdefault(tree, place)
    forest.roots = list(firsts.values())
    return forest, places


def _column(c: Call, name: str, count: int) -> list[Any]:
    column = c.get(name) or []
    if len(column) != count:
        raise c.refuse(f"{name} has {len(column)} entries for {count} nodes")
    return list(column)


def _weights(
    c: Call, places: dict[tuple[int, int], int], kind: str, targets: int, fill: float
) -> tuple[Array, list[int]]:
    """The weight of each node for each target, and the targets that there are."""
    weights = c.get(f"{kind}_weights_as_tensor")
    weights = c.get(f"{kind}_weights") if weights is None else numpy.asarray(weights).tolist()
    keys = zip(c.get(f"{kind}_treeids") or [], c.get(f"{kind}_nodeids") or [], strict=False)
    ids = c.get(f"{kind}_ids") or []
    table = numpy.full((len(places), targets), fill, numpy.float64)
    try:
        for key, target, weight in zip(keys, ids, weights or [], strict=True):
            known = table[places[key], target]
            table[places[key], target] = weight if known == fill else known + weight
    except (KeyError, ValueError, IndexError) as error:
        raise c.refuse(f"the weights of its leaves are damaged: {error}") from None
    return table, ids


_FILL = {"MIN": float(numpy.finfo("f4").max), "MAX": float(numpy.finfo("f4").min)}


def _aggregate(c: Call, by_tree: Tensor, kind: str) -> Tensor:
    """[rows, trees, targets] as [rows, targets]."""
    if kind == "AVERAGE":
        return by_tree.mean(1)
    if kind in ("MIN", "MAX"):
        return by_tree.amin(1) if kind == "MIN" else by_tree.amax(1)
    if kind != "SUM":
        raise c.refuse(f"it aggregates by {kind!r}")
    return by_tree.sum(1)


def _predict(c: Call, forest: Forest, weights: Array, kind: str) -> Tensor:
    """[rows, targets]: what the leaves of all trees come to."""
    given = c.tensor(0)
    x = given if given.dtype in (dtypes.float32, dtypes.float64) else given.cast(dtypes.float32)
    leaves = forest.leaves(x)
    rows, trees = shape_of(leaves)
    table = Tensor.from_numpy(weights).cast(x.dtype)
    by_tree = table.index_select(0, leaves.reshape(-1)).reshape(rows, trees, weights.shape[1])
    return _aggregate(c, by_tree, kind)


def _base_values(c: Call, x: Tensor) -> Tensor:
    base = c.get("base_values_as_tensor")
    base = c.get("base_values") if base is None else numpy.asarray(base)
    if base is None:
        return x
    return x + Tensor.from_numpy(numpy.array(base, numpy.float64)).cast(x.dtype).reshape(1, -1)


@operator("TreeEnsembleRegressor", domain=DOMAIN)
def tree_ensemble_regressor(c: Call) -> Value:
    kind = c.get("aggregate_function", "SUM")
    forest, places = _read_forest(c)
    weights, _ = _weights(c, places, "target", c.get("n_targets", 1), _FILL.get(kind, 0.0))
    scores = _base_values(c, _predict(c, forest, weights, kind))
    return transform_scores(c, scores).cast(dtypes.float32)


@operator("TreeEnsembleClassifier", domain=DOMAIN)
def tree_ensemble_classifier(c: Call) -> Value:
    forest, places = _read_forest(c)
    labels = c.get("classlabels_int64s") or c.get("classlabels_strings") or []
    weights, ids = _weights(c, places, "class", max(len(labels), 1), 0.0)
    if len(set(ids)) == 1 and len(labels) <= 2:
        weights = weights[:, [ids[0]]]
        scores = _base_values(c, _predict(c, forest, weights, "SUM"))
        return label_pairs(c, scores, labels, bool((weights >= 0).all()))
    return label_scores(c, _base_values(c, _predict(c, forest, weights, "SUM")), labels)


@operator("TreeEnsemble", domain=DOMAIN)
def tree_ensemble(c: Call) -> Value:
    forest, weights = _read_new_forest(c)
    kind = ("AVERAGE", "SUM", "MIN", "MAX")[c.get("aggregate_function", 1)]
    scores = _predict(c, forest, weights, kind)
    numbers = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
    return transform_scores(c, scores, numbers[c.get("post_transform", 0)]).cast(c.tensor(0).dtype)


def _read_new_forest(c: Call) -> tuple[Forest, Array]:
    """The trees as version 5 writes them: inner nodes first, then leaves.

    A node that asks for membership in a set becomes a chain of nodes that ask for its elements.
    """
    inner = len(c.get("nodes_featureids"))
    leaf_count = len(c.get("leaf_targetids"))
    members = _member_sets(c)
    extra = sum(max(len(each) - 1, 0) for each in members.values())
    forest = Forest(c, inner + leaf_count + extra)
    splits = numpy.asarray(c.get("nodes_splits"), numpy.float64)
    modes = numpy.asarray(c.get("nodes_modes"), numpy.int64)
    sides = [
        (numpy.array(c.get(f"nodes_{side}nodeids")), numpy.array(c.get(f"nodes_{side}leafs")))
        for side in ("false", "true")
    ]
    try:
        children = [ids + inner * (leaf != 0) for ids, leaf in sides]
        forest.features[:inner] = c.get("nodes_featureids")
        forest.thresholds[:inner] = splits
        forest.modes[:inner] = modes
        forest.children[:inner] = numpy.stack(children, 1)
        if forest.children.min() < 0 or forest.children.max() >= inner + leaf_count + extra:
            raise c.refuse("a node of a tree has a child that is not there")
        missing = c.get("nodes_missing_value_tracks_true")
        forest.missing[:inner] = missing if missing is not None else 0
        weights = numpy.zeros((len(forest.features), c.get("n_targets", 1)))
        leaves = numpy.arange(leaf_count) + inner
        weights[leaves, c.get("leaf_targetids")] = numpy.asarray(c.get("leaf_weights"))
        forest.roots = [_root(c, each, sides, inner) for each in c.get("tree_roots")]
    except (ValueError, IndexError, TypeError) as error:
        raise c.refuse(f"its trees are damaged: {error}") from None
    _chain_members(forest, members, inner + leaf_count)
    return forest, weights


def _root(c: Call, root: int, sides: list[tuple[Array, Array]], inner: int) -> int:
    """The first node of a tree; one whose children are the same leaf stands for that."""
    (false, false_leaf), (true, true_leaf) = sides
    if not 0 <= root < inner:
        raise c.refuse(f"a tree begins at node {root} of {inner}")
    if false_leaf[root] and true_leaf[root] and false[root] == true[root]:
        return int(false[root]) + inner
    return root


def _member_sets(c: Call) -> dict[int, list[float]]:
    """The sets that nodes ask for, by node; NaN ends each of them."""
    asking = [
        place
        for place, mode in enumerate(numpy.asarray(c.get("nodes_modes")))
        if mode == NUMBERED.index("BRANCH_MEMBER")
    ]
    values = c.get("membership_values")
    sets: list[list[float]] = [[]]
    for value in [] if values is None else numpy.asarray(values).reshape(-1).tolist():
        if value != value:
            sets.append([])
        else:
            sets[-1].append(value)
    if len(sets) - 1 < len(asking):
        raise c.refuse(f"it has {len(sets) - 1} sets for {len(asking)} nodes that ask for one")
    return dict(zip(asking, sets, strict=False))


def _chain_members(forest: Forest, members: dict[int, list[float]], free: int) -> None:
    equal = NUMBERED.index("BRANCH_EQ")
    for place, values in members.items():
        false, true = forest.children[place]
        at = place
        for turn, value in enumerate(values or [float("nan")]):
            forest.modes[at], forest.thresholds[at] = equal, value
            forest.features[at], forest.missing[at] = forest.features[place], forest.missing[place]
            is_last = turn + 1 >= len(values)
            forest.children[at] = (false if is_last else free, true)
            if not is_last:
                at, free = free, free + 1
