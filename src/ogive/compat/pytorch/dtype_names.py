"""PyTorch's second names of dtypes: `ogive.long` is `ogive.int64`.

`ogive.dtype` is their class, for annotations and `isinstance`."""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes

dtype = dtypes.DType
half = dtypes.float16
float = dtypes.float32
double = dtypes.float64
short = dtypes.int16
int = dtypes.int32
long = dtypes.int64
cfloat = dtypes.complex64
cdouble = dtypes.complex128
