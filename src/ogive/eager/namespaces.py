"""Whether new tensors are eager: in processes that have `ogive.torch`, and there by the setting."""

from __future__ import annotations

from ogive.config import current_config
from ogive.eager.forms import is_captured

_is_on = [False]


def turn_on() -> None:
    """Let new small tensors be eager: programs are PyTorch's from now on."""
    _is_on[0] = True


def turn_off() -> None:
    """Let new tensors be lazy, as those of `ogive` are."""
    _is_on[0] = False


def may_be_eager() -> bool:
    """Whether new small tensors are eager: the setting says so, and no function is captured."""
    config = current_config()
    return _is_on[0] and config.eager and not config.device and not is_captured()
