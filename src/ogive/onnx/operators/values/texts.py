"""Texts and labels: arrays of Python strings, which are computed with at once."""

from __future__ import annotations

import re

import numpy

from ogive.onnx.call import Call
from ogive.onnx.table import Value, operator


@operator("StringConcat")
def concat_texts(c: Call) -> Value:
    return numpy.asarray(numpy.add(c.values[0], c.values[1]), object)


@operator("RegexFullMatch")
def match_texts(c: Call) -> Value:
    pattern = re.compile(c.get("pattern"))
    matches = [pattern.fullmatch(text) is not None for text in c.values[0].reshape(-1)]
    return numpy.array(matches, bool).reshape(c.values[0].shape)


@operator("StringSplit")
def split_texts(c: Call) -> Value:
    texts = c.values[0]
    parts = [
        text.split(c.get("delimiter") or None, c.get("maxsplit", -1)) for text in texts.reshape(-1)
    ]
    width = max((len(each) for each in parts), default=0)
    table = numpy.full((len(parts), width), "", object)
    for row, each in zip(table, parts, strict=True):
        row[: len(each)] = each
    counts = numpy.array([len(each) for each in parts], numpy.int64)
    return table.reshape(*texts.shape, width), counts.reshape(texts.shape)


@operator("StringNormalizer")
def normalize_texts(c: Call) -> Value:
    change = {"LOWER": str.lower, "UPPER": str.upper}.get(c.get("case_change_action", "NONE"), str)
    exact = c.flag("is_case_sensitive")
    stops = set(c.get("stopwords") or [])
    if not exact:
        stops = {word.lower() for word in stops}
    texts = c.values[0]
    rows = texts if texts.ndim == 2 else texts[None]
    rows = [
        [change(text) for text in row if (text if exact else text.lower()) not in stops]
        for row in rows.tolist()
    ]
    rows = [row or [""] for row in rows]
    return numpy.array(rows if texts.ndim == 2 else rows[0], object)
