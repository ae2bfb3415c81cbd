"""Random numbers, which are functions of a key; see docs/random.md.

>>> key = ogive.random.key(0)
>>> bool((rand(1000, key=key) == rand(1000, key=key)).all())
True
"""

from __future__ import annotations

from ogive.random.continuous import (
    exponential,
    gumbel,
    normal,
    rand,
    rand_like,
    randn,
    randn_like,
    uniform,
)
from ogive.random.discrete import (
    bernoulli,
    multinomial,
    randint,
    randint_like,
    randperm,
)
from ogive.random.dropping import (
    alpha_dropout,
    dropout,
    feature_alpha_dropout,
    feature_dropout,
    gumbel_softmax,
)
from ogive.random.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from ogive.random.keys import fold_in, key, split
from ogive.random.rejected import binomial, poisson, standard_gamma, von_mises
from ogive.random.transformed import cauchy, geometric, log_normal

__all__ = [
    "Generator",
    "alpha_dropout",
    "bernoulli",
    "binomial",
    "cauchy",
    "default_generator",
    "dropout",
    "exponential",
    "feature_alpha_dropout",
    "feature_dropout",
    "fold_in",
    "geometric",
    "get_rng_state",
    "gumbel",
    "gumbel_softmax",
    "initial_seed",
    "key",
    "log_normal",
    "manual_seed",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "seed",
    "set_rng_state",
    "split",
    "standard_gamma",
    "uniform",
    "von_mises",
]
