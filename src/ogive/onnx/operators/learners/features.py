"""Features of rows (ai.onnx.ml): scaled, encoded, filled in, counted."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.onnx.call import Call, index_tensor, to_tensor
from ogive.onnx.elements import Array
from ogive.onnx.operators.values.elementwise import is_text
from ogive.onnx.table import Value, operator
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor

DOMAIN = "ai.onnx.ml"


def _numbers(values: Any, like: Tensor) -> Tensor:
    return Tensor.from_numpy(numpy.array(values, numpy.float64)).cast(like.dtype)


def _floats(c: Call) -> Tensor:
    x = c.tensor(0)
    return x if x.dtype is dtypes.float64 else x.cast(dtypes.float32)


@operator("Scaler", domain=DOMAIN)
def scale(c: Call) -> Value:
    x = _floats(c)
    offset, factor = c.get("offset") or [0.0], c.get("scale") or [1.0]
    return ((x - _numbers(offset, x)) * _numbers(factor, x)).cast(dtypes.float32)


@operator("Normalizer", domain=DOMAIN)
def normalize_rows(c: Call) -> Value:
    x, kind = _floats(c), c.get("norm", "MAX")
    if kind == "MAX":
        length = x.abs().amax(-1, True)
    else:
        length = x.norm(1.0 if kind == "L1" else 2.0, -1, True)
    return (x / length.clamp(min=1e-30)).cast(dtypes.float32)


@operator("Binarizer", domain=DOMAIN)
def binarize(c: Call) -> Value:
    x = c.tensor(0)
    return (x > c.get("threshold", 0.0)).cast(x.dtype)


@operator("Imputer", domain=DOMAIN)
def impute(c: Call) -> Value:
    x = c.tensor(0)
    if c.get("imputed_value_floats"):
        values, missing = c.get("imputed_value_floats"), c.get("replaced_value_float", 0.0)
    else:
        values, missing = c.get("imputed_value_int64s"), c.get("replaced_value_int64", 0)
    wanted = x.isnan() if missing != missing else x == missing
    return _numbers(values, x).where(wanted, x)


@operator("FeatureVectorizer", domain=DOMAIN)
def join_features(c: Call) -> Value:
    parts = []
    for x, width in zip(c.tensors(), c.get("inputdimensions"), strict=True):
        rows = x.reshape(-1, 1) if x.ndim == 1 else x
        more = width - int(rows.shape[1])
        rows = rows.pad([0, more]) if more > 0 else rows.narrow(1, 0, width)
        parts.append(rows.cast(dtypes.float32))
    return cat(parts, 1)


def _find(values: Any, keys: Sequence[Any] | Array) -> tuple[Any, Any]:
    """The place of each value among the keys, and whether it is there: arrays for texts, else
    tensors."""
    if is_text(values):
        places = {key: place for place, key in enumerate(keys)}
        positions = [places.get(each, -1) for each in values.reshape(-1)]
        at = numpy.array(positions, numpy.int64).reshape(values.shape)
        return index_tensor(at.clip(0)), Tensor.from_numpy(at >= 0)
    x = to_tensor(values)
    table = Tensor.from_numpy(numpy.array(keys)).cast(x.dtype)
    same = x.unsqueeze(-1) == table
    if x.dtype.is_float:
        same = same.logical_or(x.isnan().unsqueeze(-1).logical_and(table.isnan()))
    return same.cast(dtypes.int32).argmax(-1).cast(dtypes.int64), same.any(-1)


def _translate(c: Call, keys: Any, values: Any, default: Any) -> Value:
    """For each element the value of its key; a default where it is no key."""
    at, known = _find(c.values[0], keys)
    if len(values) and isinstance(values[0], str):
        names = numpy.array([*values, default], object)
        places = at.where(known, index_tensor(len(values)))
        return names[places.numpy()]
    table = Tensor.from_numpy(numpy.array(values))
    taken = table.index_select(0, at.reshape(-1)).reshape(*at.shape)
    return taken.where(known, Tensor.from_numpy(numpy.array(default)).cast(table.dtype))


@operator("LabelEncoder", domain=DOMAIN, since=2)
def encode_labels(c: Call) -> Value:
    keys = _attribute(c, "keys")
    values = _attribute(c, "values")
    if keys is None or values is None:
        raise c.refuse("it has no keys or no values")
    if len(keys) != len(values):
        raise c.refuse(f"it has {len(keys)} keys and {len(values)} values")
    if isinstance(values[0], str):
        return _translate(c, keys, values, c.get("default_string", "_Unused"))
    given = c.get("default_tensor")
    if given is not None:
        default = numpy.asarray(given).reshape(-1)[0]
    elif values.dtype.kind == "f":
        default = c.get("default_float", -0.0)
    else:
        default = c.get("default_int64", -1)
    return _translate(c, keys, values, default)


def _attribute(c: Call, name: str) -> Any:
    """The keys or values of an encoder, which have an attribute for each type."""
    for kind, dtype in (("floats", "f4"), ("int64s", "i8")):
        entries = c.get(f"{name}_{kind}")
        if entries:
            return numpy.array(entries, dtype)
    entries = c.get(f"{name}_strings") or c.get(f"{name}_tensor")
    return entries if entries is None or isinstance(entries, list) else _plain(entries)


def _plain(entries: Any) -> Any:
    array = entries.numpy() if isinstance(entries, Tensor) else entries
    return array.tolist() if array.dtype.kind == "O" else array


@operator("LabelEncoder", domain=DOMAIN, until=2)
@operator("CategoryMapper", domain=DOMAIN)
def map_categories(c: Call) -> Value:
    """Texts as their numbers, or numbers as texts."""
    names = c.get("cats_strings") or c.get("classes_strings")
    numbers = c.get("cats_int64s") or list(range(len(names)))
    if is_text(c.values[0]):
        return _translate(c, names, numpy.array(numbers), c.get("default_int64", -1))
    return _translate(c, numbers, names, c.get("default_string", "_Unused"))


@operator("OneHotEncoder", domain=DOMAIN)
def encode_one_hot(c: Call) -> Value:
    keys = c.get("cats_int64s") or c.get("cats_strings")
    at, known = _find(c.values[0], keys)
    if not c.flag("zeros", 1) and not bool(known.all().item()):
        raise c.refuse("an element is none of its categories")
    marks = at.unsqueeze(-1) == index_tensor(numpy.arange(len(keys)))
    return marks.logical_and(known.unsqueeze(-1)).cast(dtypes.float32)


@operator("ZipMap", domain=DOMAIN)
def name_columns(c: Call) -> Value:
    """For each row a dictionary of its numbers by label."""
    labels = c.get("classlabels_int64s") or c.get("classlabels_strings")
    return [dict(zip(labels, row, strict=True)) for row in c.array(0).tolist()]


@operator("DictVectorizer", domain=DOMAIN)
def vectorize_dictionary(c: Call) -> Value:
    keys = c.get("string_vocabulary") or c.get("int64_vocabulary")
    return numpy.array([[c.values[0].get(key, 0) for key in keys]])


@operator("TfIdfVectorizer")
def count_ngrams(c: Call) -> Value:
    """The number of times that each group of neighbours (with gaps) of a pool is in a row."""
    array = c.array(0)
    rows = array.reshape(1, -1) if array.ndim < 2 else array
    pool = dict(zip(_ngrams(c), c.get("ngram_indexes"), strict=True))
    width = max(c.get("ngram_indexes"), default=-1) + 1
    c.bound(len(rows) * width)
    table = numpy.zeros((len(rows), width), numpy.float32)
    for counts, row in zip(table, rows.tolist(), strict=True):
        for key in _neighbours(c, row):
            if key in pool:
                counts[pool[key]] += 1
    weights = numpy.ones(table.shape[1], numpy.float32)
    if c.get("weights"):
        weights[c.get("ngram_indexes")] = c.get("weights")
    if c.get("mode") in ("IDF", "TFIDF"):
        table = (table > 0 if c.get("mode") == "IDF" else table) * weights
    return table.astype(numpy.float32).reshape(*array.shape[:-1], -1)


def _ngrams(c: Call) -> list[tuple[Any, ...]]:
    """The groups of the pool: those of one element first, then those of two, and so on."""
    pool = c.get("pool_int64s") or c.get("pool_strings")
    starts = [*c.get("ngram_counts"), len(pool)]
    groups = []
    for size, (begin, end) in enumerate(itertools.pairwise(starts), 1):
        groups += [tuple(pool[place : place + size]) for place in range(begin, end, size)]
    return groups


def _neighbours(c: Call, row: list[Any]) -> list[tuple[Any, ...]]:
    """All groups of a row whose lengths and gaps are asked for."""
    groups = []
    for size in range(c.get("min_gram_length"), c.get("max_gram_length") + 1):
        gaps = range(1, 2 if size == 1 else c.get("max_skip_count") + 2)
        for gap in gaps:
            for start in range(len(row) - (size - 1) * gap):
                groups.append(tuple(row[start : start + (size - 1) * gap + 1 : gap]))
    return groups
