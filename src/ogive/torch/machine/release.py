"""`torch.version`: the version of PyTorch that Ogive follows."""

from __future__ import annotations

__all__ = ["__version__", "cuda", "debug", "git_version", "hip"]

__version__ = "2.13.0+ogive"
cuda = None
hip = None
debug = False
git_version = "ogive"
