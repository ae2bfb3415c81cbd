"""Whether new tensors are eager: in processes with `ogive.torch`, unless the setting is off."""

from __future__ import annotations

from ogive.config import current_config
from ogive.eager.forms import is_captured

_is_on = [False]


def turn_on() -> None:
    """Let new small tensors be eager, for PyTorch programs."""
    _is_on[0] = True


def turn_off() -> None:
    """Let new tensors be lazy, as in `ogive`."""
    _is_on[0] = False


def may_be_eager() -> bool:
    """Whether new small tensors are eager: the setting is on, and no function is being captured."""
    config = current_config()
    return _is_on[0] and config.eager and not config.device and not is_captured()
