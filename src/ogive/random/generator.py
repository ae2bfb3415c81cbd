"""Generators: they give the keys of draws for which no key is given."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy

from ogive.compiler.ir.meaning.threefry_cipher import Words
from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.random.cipher import COUNTERS, FOLD, encipher_on_host
from ogive.tensor.core import to_integer
from ogive.tensor.creation.supplied_numbers import Supplier

_AHEAD = 256
"""How many keys are made at a time. Enciphering one costs as much as enciphering hundreds."""

_WORDS = 8192
"""How many words are made at a time: 64 take 45 µs and 8192 take 105 µs (AMD EPYC). The words of
smaller draws are made together with those of the next draws."""

_ROUNDED = 64
"""Words of future draws are made in multiples of this number, by the size of the last draws."""


class Generator(Supplier):
    """A sequence of keys, one for each draw: the key of draw i is `fold_in(key(seed), i)`.

    Without a seed, the operating system gives one. Threads may share a generator: each draw gets a
    key of its own, in the order of the calls.

    >>> ogive.random.rand(2, generator=Generator(7)).shape
    (2,)
    >>> a, b = [ogive.random.rand(2, generator=Generator(7)).tolist() for _ in range(2)]
    >>> a == b
    True
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._start(_system_seed() if seed is None else to_seed(seed), 0)

    def _start(self, seed: int, position: int) -> None:
        self._seed = seed
        self._position = position
        self._keys: list[int] = []
        self._keys_from = position
        self._words: Any = ()
        self._words_from = position
        self._widest = 0

    def take(self) -> int:
        """Return the key of the next draw."""
        with self._lock:
            key = self._next_key()
            self._position += 1
            return key

    def take_words(self, count: int) -> Words:
        """Return the first words under the key of the next draw."""
        if count > _WORDS // 2:
            return encipher_on_host(numpy.arange(count, dtype=numpy.uint64), self.take())
        with self._lock:
            self._next_key()
            at = self._position - self._words_from
            if at >= len(self._words) or count > self._words.shape[1]:
                self._words_from, at = self._position, 0
                width = -(-max(count, self._widest, 1) // _ROUNDED) * _ROUNDED
                self._widest = 0
                start = self._position - self._keys_from
                keys = numpy.array(self._keys[start : start + _WORDS // width], numpy.uint64)
                counters = numpy.arange(width, dtype=numpy.uint64)
                self._words = encipher_on_host(counters, keys[:, None])
            self._position += 1
            self._widest = max(self._widest, count)
            words: Words = self._words[at, :count]
            return words

    def _next_key(self) -> int:
        at = self._position - self._keys_from
        if at >= len(self._keys):
            self._keys_from, at = self._position, 0
            counters = numpy.arange(_AHEAD, dtype=numpy.uint64)
            counters += numpy.uint64(FOLD | self._position)
            self._keys = encipher_on_host(counters, self._seed).tolist()
        return self._keys[at]

    def manual_seed(self, seed: int) -> Generator:
        """Restart with this seed. Returns the generator itself.

        >>> Generator().manual_seed(3).initial_seed()
        3
        """
        self.refuse_capture("seeding a generator")
        chosen = to_seed(seed)
        with self._lock:
            self._start(chosen, 0)
        return self

    def seed(self) -> int:
        """Restart with a seed from the operating system. Returns the seed."""
        chosen = _system_seed()
        self.manual_seed(chosen)
        return chosen

    def initial_seed(self) -> int:
        """Return the seed of the last start.

        >>> Generator(7).initial_seed()
        7
        """
        return self._seed

    def get_state(self) -> tuple[int, int]:
        """Return the state of the generator: the seed, and the number of draws that were made.

        >>> generator = Generator(7)
        >>> _ = ogive.random.rand(2, generator=generator)
        >>> generator.get_state()
        (7, 1)
        """
        self.refuse_capture("reading the state of a generator")
        with self._lock:
            return self._seed, self._position

    def set_state(self, state: tuple[int, int]) -> Generator:
        """Continue from a state that `get_state` returned. Returns the generator itself.

        Raises `ArgumentTypeError` or `ArgumentError` if it is not a state.
        """
        self.refuse_capture("setting the state of a generator")
        if not isinstance(state, tuple | list) or len(state) != 2:
            raise ArgumentTypeError(f"a state is (seed, number of draws), got {state!r}")
        seed, position = to_seed(state[0]), to_integer(state[1], "the number of draws")
        if not 0 <= position < COUNTERS - _AHEAD:
            raise ArgumentError(f"a generator cannot have made {position} draws")
        with self._lock:
            self._start(seed, position)
        return self

    def __reduce__(self) -> Any:
        return _restored, self.get_state()

    def __repr__(self) -> str:
        return f"Generator(seed={self._seed}, draws={self._position})"


def _restored(seed: int, position: int) -> Generator:
    return Generator(seed).set_state((seed, position))


def to_seed(given: Any) -> int:
    """Return a seed as the 64 bits of a key. Raises `ArgumentError` outside -2^63 to 2^64 - 1."""
    seed = to_integer(given, "a seed")
    if not -(1 << 63) <= seed < 1 << 64:
        raise ArgumentError(f"a seed has 64 bits: from -2^63 to 2^64 - 1, not {seed}")
    return seed % (1 << 64)


def _system_seed() -> int:
    return int.from_bytes(os.urandom(8), "little")


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Restart the default generator with this seed. Returns the generator.

    >>> _ = ogive.manual_seed(0)
    >>> first = ogive.rand(3).tolist()
    >>> _ = ogive.manual_seed(0)
    >>> ogive.rand(3).tolist() == first
    True

    Raises `ArgumentError` unless -2^63 <= seed < 2^64.
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Restart the default generator with a seed from the operating system. Returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> tuple[int, int]:
    """Return the state of the default generator; see `Generator.get_state`."""
    return default_generator.get_state()


def set_rng_state(state: tuple[int, int]) -> None:
    """Set the state of the default generator; see `Generator.set_state`."""
    default_generator.set_state(state)


# A forked child continues the sequence of its parent, and must not inherit a lock that is held.
os.register_at_fork(
    before=default_generator._lock.acquire,
    after_in_parent=default_generator._lock.release,
    after_in_child=default_generator._lock.release,
)
