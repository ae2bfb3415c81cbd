"""The composition root: runs the stages, owns the caches. `Tensor.realize` calls only this."""

from ogive.engine.plan import Plan
from ogive.engine.realize import prepare, realize
from ogive.engine.writing import wait_for_writers

__all__ = ["Plan", "prepare", "realize", "wait_for_writers"]
