"""Second names that PyTorch has for operations."""

from __future__ import annotations

from ogive.tensor.inplace import InPlace


class Aliases(InPlace):
    """Nothing of its own: each name stands for the method beside it."""

    __slots__ = ()

    absolute = InPlace.abs
    arccos = InPlace.acos
    arccosh = InPlace.acosh
    arcsin = InPlace.asin
    arcsinh = InPlace.asinh
    arctan = InPlace.atan
    arctan2 = InPlace.atan2
    arctanh = InPlace.atanh
    clip = InPlace.clamp
    divide = InPlace.div
    fix = InPlace.trunc
    ger = InPlace.outer
    greater = InPlace.gt
    greater_equal = InPlace.ge
    less = InPlace.lt
    less_equal = InPlace.le
    moveaxis = InPlace.movedim
    multiply = InPlace.mul
    ndimension = InPlace.dim
    negative = InPlace.neg
    nelement = InPlace.numel
    not_equal = InPlace.ne
    reshape_as = InPlace.view_as
    resolve_conj = InPlace.clone
    resolve_neg = InPlace.clone
    split_with_sizes = InPlace.split
    subtract = InPlace.sub
    swapaxes = InPlace.transpose
    swapdims = InPlace.transpose
    true_divide = InPlace.div
    unsafe_chunk = InPlace.chunk
    unsafe_split = InPlace.split
    absolute_ = InPlace.abs_
    arccos_ = InPlace.acos_
    arccosh_ = InPlace.acosh_
    arcsin_ = InPlace.asin_
    arcsinh_ = InPlace.asinh_
    arctan_ = InPlace.atan_
    arctan2_ = InPlace.atan2_
    arctanh_ = InPlace.atanh_
    clip_ = InPlace.clamp_
    divide_ = InPlace.div_
    fix_ = InPlace.trunc_
    greater_ = InPlace.gt_
    greater_equal_ = InPlace.ge_
    less_ = InPlace.lt_
    less_equal_ = InPlace.le_
    multiply_ = InPlace.mul_
    negative_ = InPlace.neg_
    not_equal_ = InPlace.ne_
    subtract_ = InPlace.sub_
    swapaxes_ = InPlace.transpose_
    swapdims_ = InPlace.transpose_
    true_divide_ = InPlace.div_
