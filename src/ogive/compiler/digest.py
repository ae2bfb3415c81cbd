"""BLAKE2b, the digest of all keys and checks."""

from __future__ import annotations

try:
    # `hashlib` has the same function, but loads OpenSSL first, which takes 3 ms of every start.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
