"""A transform along the last axis, in stages that are small matrix products.

Values have the shape (..., parts, n), with a real and an imaginary part, or the real part alone.

    n = r·m     x[m·i + j] is a matrix (r, m). Its columns are transformed by the matrix of length
                r. Entry (k, j) is multiplied by the twiddle factor e^(-2πi·kj/n). Its rows are
                transformed in the same way. Entry (k, l) is then X[k + r·l].

A length with a large prime factor becomes a convolution whose length is a power of two (Bluestein).
"""

from __future__ import annotations

from ogive.fft.tables import chirp, matrix, twiddles
from ogive.tensor.autocast_dtypes import unchanged
from ogive.tensor.tensor import Tensor

LARGEST_DIRECT = 32
"""Up to this length, a transform is one product."""
LARGEST_PRIME = 61
"""With a greater prime factor, a transform is a convolution."""
RADIX = 16
"""The greatest length of a stage, unless a prime factor is greater."""


@unchanged
def transform(x: Tensor, sign: int) -> Tensor:
    """Return the unscaled transform; forward for sign -1. Shapes: (..., 1 or 2, n) → (..., 2, n).

    >>> from ogive.fft.product_stages import transform
    >>> transform(Tensor([[1.0, 1.0]]), -1).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    n = x.shape[-1]
    primes = prime_factors(n)
    if n > LARGEST_DIRECT and primes[-1] > LARGEST_PRIME:
        return _convolved(x, sign)
    return _by_stages(x, sign, stage_lengths(n))


def prime_factors(n: int) -> list[int]:
    """Return the prime factors of n in ascending order; for 1, [1].

    >>> prime_factors(60)
    [2, 2, 3, 5]
    """
    factors, prime = [], 2
    while prime * prime <= n:
        while n % prime == 0:
            factors.append(prime)
            n //= prime
        prime += 1
    return [*factors, n] if n > 1 or not factors else factors


def stage_lengths(n: int) -> list[int]:
    """Return the lengths of the stages. Their product is n.

    >>> stage_lengths(4096), stage_lengths(20), stage_lengths(1000)
    ([16, 16, 16], [20], [10, 10, 10])
    """
    if n <= LARGEST_DIRECT:
        return [n]
    lengths: list[int] = []
    for prime in reversed(prime_factors(n)):
        fitting = [at for at, length in enumerate(lengths) if length * prime <= RADIX]
        if fitting:
            lengths[fitting[0]] *= prime
        else:
            lengths.append(prime)
    return lengths


def _by_stages(x: Tensor, sign: int, lengths: list[int]) -> Tensor:
    """Apply the stages in order. The axes of finished stages become batch axes."""
    parts, n = x.shape[-2:]
    *front, last = lengths
    batch = x.shape[:-2]
    done: list[int] = []
    for length in front:
        remaining = n // length
        columns = x.reshape(*batch, *done, parts * length, remaining)
        product = matrix(length, sign, parts, x.dtype, False, x.device) @ columns
        parts = 2
        turned = multiply(
            product.reshape(*batch, *done, 2, length, remaining),
            twiddles(length, remaining, sign, x.dtype, x.device),
        )
        x = turned.movedim(-3, -2).contiguous()
        done.append(length)
        n = remaining
    rows = x.reshape(*batch, *done, parts * last)
    table = matrix(last, sign, parts, x.dtype, True, x.device)
    result = (rows @ table).reshape(*batch, *done, 2, last)
    # The index of the first stage is the fastest axis of the result.
    rank, count = len(batch), len(done)
    order = [*range(rank), rank + count, rank + count + 1, *reversed(range(rank, rank + count))]
    return result.permute(order).reshape(*batch, 2, -1)


def multiply(x: Tensor, factors: tuple[Tensor, Tensor]) -> Tensor:
    """Multiply complex numbers, given as parts (..., 2, ...), by constants (2, ...)."""
    own, other = factors
    return x * own + x.flip(-own.ndim) * other


def _convolved(x: Tensor, sign: int) -> Tensor:
    """Transform by Bluestein's algorithm: a product, a convolution with a constant, a product."""
    parts, n = x.shape[-2:]
    constants = chirp(n, sign, x.dtype, x.device)
    if parts == 1:
        x = x.pad((0, 0, 0, 1))
    start = multiply(x, constants.ends).pad((0, constants.size - n)).contiguous()
    middle = multiply(transform(start, -1), constants.spectrum).contiguous()
    return multiply(transform(middle, 1).narrow(-1, 0, n), constants.ends)
