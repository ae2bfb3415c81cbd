"""The composition root: runs the stages, owns the caches. `Tensor.realize` calls only this."""

from ogive.engine.announced_writes import wait_for_writers
from ogive.engine.plan import Plan
from ogive.engine.realize import prepare, realize

__all__ = ["Plan", "prepare", "realize", "wait_for_writers"]
