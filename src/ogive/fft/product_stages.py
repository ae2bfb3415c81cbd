"""A transform along the last axis, as stages that are small matrix products.

A value is (..., parts, n), the parts being the real and the imaginary one, or the real one alone.

    n = r·m     x[m·i + j] is a matrix (r, m). Its columns are transformed by the matrix of length
                r, entry (k, j) is multiplied by e^(-2πi·kj/n), and its rows are transformed in the
                same way; entry (k, l) is then X[k + r·l].

Lengths with a large prime factor become a convolution (Bluestein), of a power of two.
"""

from __future__ import annotations

from ogive.fft.tables import chirp, matrix, twiddles
from ogive.tensor.autocast_dtypes import unchanged
from ogive.tensor.tensor import Tensor

LARGEST_DIRECT = 32
"""Up to this length a transform is one product."""
LARGEST_PRIME = 61
"""Beyond this prime factor a transform is a convolution."""
RADIX = 16
"""Stages are at most this long unless a prime factor is longer."""


@unchanged
def transform(x: Tensor, sign: int) -> Tensor:
    """The transform without any factor; sign -1 is forward. Shapes: (..., 1 or 2, n) → (..., 2, n).

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
    """The prime factors in ascending order; of 1, itself.

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
    """The lengths of the stages, whose product is n.

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
    """One stage after the other; what is behind stays a matrix, what is done becomes batch."""
    parts, n = x.shape[-2:]
    *front, last = lengths
    batch = x.shape[:-2]
    done: list[int] = []
    for length in front:
        rest = n // length
        columns = x.reshape(*batch, *done, parts * length, rest)
        product = matrix(length, sign, parts, x.dtype, False, x.device) @ columns
        parts = 2
        turned = multiply(
            product.reshape(*batch, *done, 2, length, rest),
            twiddles(length, rest, sign, x.dtype, x.device),
        )
        x = turned.movedim(-3, -2).contiguous()
        done.append(length)
        n = rest
    rows = x.reshape(*batch, *done, parts * last)
    table = matrix(last, sign, parts, x.dtype, True, x.device)
    result = (rows @ table).reshape(*batch, *done, 2, last)
    # The first stage's entry counts fastest.
    rank, count = len(batch), len(done)
    order = [*range(rank), rank + count, rank + count + 1, *reversed(range(rank, rank + count))]
    return result.permute(order).reshape(*batch, 2, -1)


def multiply(x: Tensor, factors: tuple[Tensor, Tensor]) -> Tensor:
    """Complex numbers, given as parts (..., 2, ...), times constants (2, ...)."""
    own, other = factors
    return x * own + x.flip(-own.ndim) * other


def _convolved(x: Tensor, sign: int) -> Tensor:
    """Bluestein's transform: a product, a convolution with a constant, a product."""
    parts, n = x.shape[-2:]
    constants = chirp(n, sign, x.dtype, x.device)
    if parts == 1:
        x = x.pad((0, 0, 0, 1))
    start = multiply(x, constants.ends).pad((0, constants.size - n)).contiguous()
    middle = multiply(transform(start, -1), constants.spectrum).contiguous()
    return multiply(transform(middle, 1).narrow(-1, 0, n), constants.ends)
