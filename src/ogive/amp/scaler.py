"""`GradScaler`: a loss made larger, so that small gradients are not lost in 16 bits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ogive.autograd import no_grad
from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError
from ogive.jit.tracing.watch import is_tracing
from ogive.optim.optimizer import Optimizer
from ogive.tensor.core import to_device
from ogive.tensor.creation.constructors import full
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

_UNSCALED, _STEPPED = "unscaled", "stepped"


class GradScaler:
    """Scale a loss, take the scale out of the gradients, and skip steps whose gradients overflowed.

    The scale halves (`backoff_factor`) after a step that was skipped, and doubles (`growth_factor`)
    after `growth_interval` steps that were not. Whether a step is skipped is decided by the kernels
    that compute it: nothing waits for it, and all of it works in a captured function, which must
    contain everything from `unscale_` or `step` up to `update`.

    >>> layer = nn.Linear(3, 1)
    >>> optimizer = ogive.optim.SGD(layer.parameters(), lr=0.1)
    >>> scaler = ogive.amp.GradScaler("cpu", init_scale=1024.0)
    >>> with ogive.autocast(dtype=ogive.float16):
    ...     loss = layer(ogive.ones(2, 3)).square().mean()
    >>> scaler.scale(loss).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> scaler.get_scale()
    1024.0

    Raises `DeviceError` for another device than the CPU, `ArgumentError` for factors that do not
    grow or do not shrink.
    """

    def __init__(
        self,
        device: str = "cpu",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        to_device(device)
        self._enabled = enabled
        self._stages: dict[int, str] = {}
        self._found: list[Tensor] = []
        self._by_optimizer: dict[int, Tensor] = {}
        self._scale = full((), float(init_scale)).contiguous().realize()
        self._growth_tracker = full((), 0, dtype=dtypes.int32).contiguous().realize()
        self.set_growth_factor(growth_factor)
        self.set_backoff_factor(backoff_factor)
        self.set_growth_interval(growth_interval)

    def scale(self, outputs: Any) -> Any:
        """A tensor, or several, times the scale. Shapes: unchanged.

        Scalars of 16 bits become float32, which the scale fits into.

        >>> ogive.amp.GradScaler(init_scale=8.0).scale(Tensor([1.0, 2.0])).tolist()
        [8.0, 16.0]
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            scaled = outputs * self._scale
            return scaled.cast(outputs.dtype) if outputs.ndim else scaled
        if isinstance(outputs, Iterable) and not isinstance(outputs, str | bytes | Mapping):
            several = [self.scale(entry) for entry in outputs]
            return several if isinstance(outputs, list) else tuple(several)
        raise ArgumentTypeError(
            f"GradScaler.scale takes a tensor or several, not {type(outputs).__name__}"
        )

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, before they are clipped.

        `step` does so itself if nobody has.

        Raises `ArgumentError` if that was done since the last `update`, `DtypeError` for gradients
        of float16: the parameters themselves are to be of float32.
        """
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer))
        if stage is not None:
            raise ArgumentError(
                f"unscale_: the gradients of this optimizer were {stage} since the last update"
            )
        overflows: list[Tensor] = []
        with no_grad():
            factor = self._scale.reciprocal()
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    gradient = parameter.grad
                    if gradient is not None:
                        overflows.append(gradient.isfinite().all().logical_not())
                        parameter.grad = _unscaled(gradient, factor)
            if not overflows:
                raise ArgumentError("unscale_: no parameter of this optimizer has a gradient")
            self._by_optimizer[id(optimizer)] = _any_of(overflows)
        self._stages[id(optimizer)] = _UNSCALED

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step()`, unless a gradient is infinite or NaN: then nothing changes.

        Raises `ArgumentError` after a `step` without `update`, and for optimizers that compute the
        loss again.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if args or kwargs or type(optimizer).step is not Optimizer.step:
            raise ArgumentError(
                "GradScaler.step takes no closure, and no optimizer that needs one, such as LBFGS"
            )
        stage = self._stages.get(id(optimizer))
        if stage == _STEPPED:
            raise ArgumentError("step: this optimizer has taken its step since the last update")
        if stage is None:
            self.unscale_(optimizer)
        overflowed = self._by_optimizer.pop(id(optimizer))
        optimizer.step_unless(overflowed)
        self._found.append(overflowed)
        self._stages[id(optimizer)] = _STEPPED
        return None

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Change the scale by what the steps have found, or to `new_scale`.

        Raises `ArgumentError` if there was no step since the last time.
        """
        if not self._enabled:
            return
        with no_grad():
            if new_scale is not None:
                self._scale.assign(new_scale)
            else:
                overflows = [*self._found, *self._by_optimizer.values()]
                if not overflows:
                    raise ArgumentError("update: there was no step or unscale_ since the last one")
                self._adapt(_any_of(overflows))
        self._stages, self._found, self._by_optimizer = {}, [], {}
        if not is_tracing():
            Tensor.realize_batch([self._scale, self._growth_tracker])

    def _adapt(self, overflowed: Tensor) -> None:
        count = self._growth_tracker + 1
        grows = count >= self._growth_interval
        grown = where(grows, self._scale * self._growth_factor, self._scale)
        smaller = self._scale * self._backoff_factor
        # A scale that would become infinite stays as it is.
        kept = where(grown.isfinite(), grown, self._scale)
        self._scale.assign(where(overflowed, smaller, kept))
        self._growth_tracker.assign(where(overflowed | grows, 0, count))

    # Settings and state

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The scale now, 1 if not enabled."""
        return float(self._scale) if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """The factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Let the scale grow by another factor."""
        if new_factor <= 1:
            raise ArgumentError(f"GradScaler: growth_factor must be above 1, got {new_factor}")
        self._growth_factor = float(new_factor)

    def get_backoff_factor(self) -> float:
        """The factor by which the scale shrinks after a step that was skipped."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Let the scale shrink by another factor."""
        if not 0 < new_factor < 1:
            raise ArgumentError(f"GradScaler: backoff_factor must lie in (0, 1), got {new_factor}")
        self._backoff_factor = float(new_factor)

    def get_growth_interval(self) -> int:
        """After how many steps in a row the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Let the scale grow after another number of steps."""
        if new_interval < 1:
            raise ArgumentError(f"GradScaler: growth_interval is at least 1, got {new_interval}")
        self._growth_interval = int(new_interval)

    def state_dict(self) -> dict[str, Any]:
        """The scale and the settings, as PyTorch has them; empty if not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
            "_growth_tracker": int(self._growth_tracker),
        }  # fmt: skip

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave.

        Raises `ArgumentError` for an empty state, that of a scaler that was not enabled.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise ArgumentError("load_state_dict: the state is empty, of a scaler not enabled")
        self.set_growth_factor(state_dict["growth_factor"])
        self.set_backoff_factor(state_dict["backoff_factor"])
        self.set_growth_interval(state_dict["growth_interval"])
        self._scale.assign(state_dict["scale"])
        self._growth_tracker.assign(state_dict["_growth_tracker"])
        Tensor.realize_batch([self._scale, self._growth_tracker])


def _unscaled(gradient: Tensor, factor: Tensor) -> Tensor:
    if gradient.dtype is dtypes.float16:
        raise DtypeError(
            "unscale_: a gradient is of float16, which the unscaled value may not fit into; let "
            "the parameters be float32, and compute in float16 by autocast"
        )
    unscaled: Tensor = (gradient * factor).cast(gradient.dtype)
    return unscaled


def _any_of(flags: list[Tensor]) -> Tensor:
    whole = flags[0]
    for other in flags[1:]:
        whole = whole | other
    return whole
