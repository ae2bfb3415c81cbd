"""Special functions, by the names of `torch.special`.

Some of them are also methods of tensors. All are computed in float64, whatever the dtype. The
modules state their errors.

>>> erfcx(Tensor([0.0])).shape
(1,)
"""

from __future__ import annotations

from ogive.special.airy import airy_ai
from ogive.special.bessel import (
    bessel_j0,
    bessel_j1,
    bessel_y0,
    bessel_y1,
    modified_bessel_i0,
    modified_bessel_i1,
    modified_bessel_k0,
    modified_bessel_k1,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    spherical_bessel_j0,
)
from ogive.special.gamma import gammainc, gammaincc, polygamma, zeta
from ogive.special.normal import entr, erfcx, log_ndtr
from ogive.special.orthogonal_polynomials import (
    chebyshev_polynomial_t,
    chebyshev_polynomial_u,
    chebyshev_polynomial_v,
    chebyshev_polynomial_w,
    hermite_polynomial_h,
    hermite_polynomial_he,
    laguerre_polynomial_l,
    legendre_polynomial_p,
    shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
)
from ogive.tensor.method_functions import as_function
from ogive.tensor.tensor import Tensor

digamma = psi = as_function(Tensor.digamma)
erf = as_function(Tensor.erf)
erfc = as_function(Tensor.erfc)
erfinv = as_function(Tensor.erfinv)
exp2 = as_function(Tensor.exp2)
expit = as_function(Tensor.sigmoid)
expm1 = as_function(Tensor.expm1)
gammaln = as_function(Tensor.lgamma)
i0 = as_function(Tensor.i0)
i0e = as_function(Tensor.i0e)
i1 = as_function(Tensor.i1)
i1e = as_function(Tensor.i1e)
log1p = as_function(Tensor.log1p)
log_softmax = as_function(Tensor.log_softmax)
logit = as_function(Tensor.logit)
logsumexp = as_function(Tensor.logsumexp)
multigammaln = as_function(Tensor.mvlgamma)
ndtr = as_function(Tensor.ndtr)
ndtri = as_function(Tensor.ndtri)
sinc = as_function(Tensor.sinc)
softmax = as_function(Tensor.softmax)
xlog1py = as_function(Tensor.xlog1py)
xlogy = as_function(Tensor.xlogy)

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "entr",
    "erfcx",
    "gammainc",
    "gammaincc",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log_ndtr",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "polygamma",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "spherical_bessel_j0",
    "zeta",
]
