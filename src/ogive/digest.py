"""BLAKE2b, the digest that everything here is known by."""

from __future__ import annotations

try:
    # `hashlib` has the same function, and loads OpenSSL first: 3 ms of every start.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
