"""`Module`: a tree of layers, their parameters, and the names of these in files.

A module is an object whose attributes are parameters, buffers (tensors that are part of its state
but are not trained) and further modules, alone or in lists, tuples and dictionaries. Nothing needs
to be registered: the attributes themselves are the tree.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, OgiveError, nearest
from ogive.nn.module_parts.hooks import Handle, Hook, call_with_hooks, every_module, set_hooks
from ogive.nn.module_parts.module_errors import add_path, refused_argument
from ogive.nn.module_parts.module_tree import ModuleTree
from ogive.nn.module_parts.state import IncompatibleKeys, check_state, clear_gradients, load_tensors
from ogive.nn.module_parts.state_hooks import (
    begin_state,
    call_hooks,
    extra_states,
    prepare_to_load,
    report_loaded,
)
from ogive.nn.parameter import Parameter
from ogive.tensor.core import DEFAULT_DEVICE, to_device
from ogive.tensor.device_name import is_device_name
from ogive.tensor.memory.data_attribute import replace_value
from ogive.tensor.mesh import Mesh
from ogive.tensor.tensor import Tensor

Self = TypeVar("Self", bound="AnyModule")
Given = TypeVar("Given", bound="AnyModule")
"""The type of a module that a function takes and returns."""


class AnyModule(ModuleTree):
    """The base of all modules, and the `torch.nn.Module` of PyTorch's programs.

    Modules in plain lists, tuples and dictionaries do not count; use `ModuleList` and `ModuleDict`.

    >>> class Net(ogive.torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.unseen = [ogive.torch.nn.Linear(2, 2)]
    ...         self.layer = ogive.torch.nn.Linear(2, 2)
    >>> list(Net().state_dict())
    ['layer.weight', 'layer.bias']
    """

    training: bool
    _hooks: tuple[Hook, ...] = ()
    _hooked: int

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        # In __new__, so that a class may forget to call super().__init__().
        module = super().__new__(cls)
        module.training = True
        module._hooked = 0
        return module

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: `__new__` has made the module."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
        if is_plain and isinstance(self.__dict__.get(name), Parameter):
            raise ArgumentTypeError(
                f"{type(self).__name__}.{name} is a parameter, and a tensor in its place would not "
                "be trained; give an nn.Parameter, or assign() the values under no_grad()"
            )
        super().__setattr__(name, value)
        if is_plain and hasattr(value, "persistent"):  # an nn.Buffer
            self._buffer_names = {**self._buffer_names, name: value.persistent}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's result."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward()")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._hooked or every_module:
                return call_with_hooks(self, args, kwargs)
            return self.forward(*args, **kwargs)
        except OgiveError as error:
            add_path(error, self)
            raise
        except AttributeError as error:
            refused = refused_argument(self, args, error)
            if refused is None:
                raise
            add_path(refused, self)
            raise refused from None

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Handle:
        """Call `hook(module, args)` before `forward`. Its result replaces `args`.

        With `with_kwargs`, the call is `hook(module, args, kwargs)`, and it returns both. A hook
        that returns None changes nothing. With `prepend`, it is called before the other hooks.
        """
        return self._add_hook(Hook(hook, True, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Handle:
        """Call `hook(module, args, result)` after `forward`. It may return another result.

        With `with_kwargs`, the call is `hook(module, args, kwargs, result)`. A hook that returns
        None changes nothing. In a captured function, hooks run when it is traced.

        >>> seen = []
        >>> layer = nn.Linear(2, 3)
        >>> with layer.register_forward_hook(lambda module, args, result: seen.append(result)):
        ...     _ = layer(ogive.ones(4, 2))
        >>> seen[0].shape
        (4, 3)
        """
        return self._add_hook(Hook(hook, False, with_kwargs), prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> Handle:
        """Call `hook(module, grad_output)` when a backward pass reaches the module's result.

        `grad_output` is a tuple of lazy gradients. The hook may return others in their place.
        """
        return self._add_hook(Hook(hook, True, is_backward=True), prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> Handle:
        """Call `hook(module, grad_input, grad_output)` when a backward pass has left the module.

        `grad_input` is a tuple with a gradient for each positional argument, or None for an
        argument without one. The hook may return another tuple in its place.

        >>> layer = nn.Linear(2, 1)
        >>> handle = layer.register_full_backward_hook(lambda module, given, out: (given[0] * 0,))
        >>> x = ogive.ones(3, 2, requires_grad=True)
        >>> layer(x).sum().backward()
        >>> x.grad.abs().sum().item()
        0.0
        """
        return self._add_hook(Hook(hook, False, is_backward=True), prepend)

    def _add_hook(self, hook: Hook, prepend: bool = False) -> Handle:
        set_hooks(self, (hook, *self._hooks) if prepend else (*self._hooks, hook))
        return Handle(self, hook)

    # State

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Tensor]:
        """The parameters and persistent buffers by path, each path beginning with `prefix`.

        They are detached, unless `keep_vars` is set. `destination` is a dictionary to add them to.

        The entries are views, as in PyTorch: they change as the module is trained, and writing to
        them changes the module. `copy.deepcopy` makes a state that does not change.

        >>> {name: t.shape for name, t in nn.Linear(2, 3).state_dict().items()}
        {'weight': (3, 2), 'bias': (3,)}
        """
        state: Any = OrderedDict() if destination is None else destination
        if destination is None:
            state._metadata = OrderedDict()  # versions of the modules, where PyTorch has them
        version = begin_state(self, state, prefix, keep_vars)
        self._save_to_state_dict(state, prefix, keep_vars)
        for name, child in self.named_children():
            below = f"{prefix}{name}."
            child.state_dict(destination=state, prefix=below, keep_vars=keep_vars)
        call_hooks(self, "after saving", state, prefix, version)
        return state  # type: ignore[no-any-return]  # a dictionary of the caller's kind

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Load the values of `state_dict`: tensors, NumPy arrays or any DLPack arrays.

        Nothing changes unless all of it fits. Raises `StateError`, which lists the keys that are
        missing or not expected, with near matches, and the shapes that differ. With
        `strict=False`, missing and unexpected keys are skipped and returned. With `assign`, the
        tensors get the dtypes of the state.
        """
        state: Any = state_dict
        if isinstance(state_dict, Mapping):
            state = OrderedDict(state_dict)  # hooks may change it
            prepare_to_load(self, state, getattr(state_dict, "_metadata", {}), strict)
        own, extra = dict(self._state()), extra_states(self)
        given = {key: value for key, value in state.items() if key not in extra}
        check_state(type(self).__name__, own, given, strict)
        load_tensors([(own[key], value) for key, value in given.items() if key in own], assign)
        for key, module in extra.items():
            if key in state:
                module.set_extra_state(state[key])
        keys = IncompatibleKeys(
            [key for key in own if key not in given], [key for key in given if key not in own]
        )
        report_loaded(self, keys)
        return keys

    # Modes

    def train(self: Self, mode: bool = True) -> Self:
        """Let dropout and batch normalization behave as in training: this module, and by their own
        `train` those below. Returns the module."""
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self: Self) -> Self:
        """Set the evaluation mode: `train(False)`. Returns the module."""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Train all parameters, or none. Returns the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters; or fill them with zeros, without `set_to_none`."""
        clear_gradients(self.parameters(), set_to_none)

    def to(
        self: Self,
        *targets: Any,
        device: Any = None,
        dtype: Any = None,
        non_blocking: bool = False,
        memory_format: Any = None,
    ) -> Self:
        """Move to a device, convert all floating-point tensors to a dtype, or both, in place.

        `non_blocking` and `memory_format` change nothing, as for tensors.

        >>> nn.Linear(2, 2).to("float64").weight.dtype
        ogive.float64
        """
        for target in (*targets, device, dtype):
            if str(target) == "meta":
                continue  # PyTorch lets go of the values there; here they wait until they are read
            if target is not None and not isinstance(target, bool):  # PyTorch's `non_blocking`
                self._move(target)
        return self

    def cpu(self: Self) -> Self:
        """Move to the CPU. Returns the module."""
        return self.to(DEFAULT_DEVICE)

    def cuda(self: Self, device: Any = None) -> Self:
        """Move to the GPU. Returns the module. Raises `DeviceError` if there is none."""
        return self.to("cuda")

    def half(self: Self) -> Self:
        """Convert all floating-point tensors to float16. Returns the module."""
        return self.to("float16")

    def bfloat16(self: Self) -> Self:
        """Convert all floating-point tensors to bfloat16. Returns the module."""
        return self.to("bfloat16")

    def float(self: Self) -> Self:
        """Convert all floating-point tensors to float32. Returns the module."""
        return self.to("float32")

    def double(self: Self) -> Self:
        """Convert all floating-point tensors to float64. Returns the module."""
        return self.to("float64")

    def shard(
        self: Self, devices: Sequence[str] | Mesh, axes: Mapping[str, Any] | None = None
    ) -> Self:
        """Distribute the parameters and buffers over several devices, in place.

        `axes` maps names of parameters, or patterns of names (`"*.weight"`), to the axes argument
        of `Tensor.shard`. The first pattern that matches counts. All other tensors are copied to
        each device.

        >>> model = nn.Linear(4, 6).shard(("CPU:0", "CPU:1"), {"weight": 0, "bias": 0})
        >>> model(ogive.ones(2, 4).shard(("CPU:0", "CPU:1"), None)).sharding
        Sharding(axis 1 in 2 over CPU, CPU:1; parts of shape (2, 3))

        Raises the errors of `Tensor.shard`, and `ArgumentError` for a pattern that matches no name.
        Nothing is moved then.
        """
        patterns = dict(axes or {})
        named = dict([*self.named_parameters(), *self.named_buffers()])
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in named):
                raise ArgumentError(
                    f"shard: {pattern!r} matches no parameter{nearest(pattern, list(named))}"
                    f"; they are {', '.join(named)}"
                )
        placed = []
        for name, tensor in named.items():
            fitting = [spec for pattern, spec in patterns.items() if fnmatchcase(name, pattern)]
            placed.append((tensor, tensor.shard(devices, fitting[0] if fitting else None)))
        for tensor, value in placed:
            replace_value(tensor, value)
        return self

    def _move(self, target: Any) -> None:
        is_device = not isinstance(target, DType) and is_device_name(target)
        dtype = None if is_device else to_dtype(target)
        if dtype is not None and not dtype.is_float:
            raise DtypeError(f"a module can be converted to a float dtype only, not {dtype.name}")
        place = to_device(target) if is_device else None  # checked even if there is nothing to move
        for _, tensor in [*self.named_parameters(), *self.named_buffers()]:
            if dtype is None:
                replace_value(tensor, tensor.to(place))
            elif tensor.dtype.is_float and tensor.dtype is not dtype:
                replace_value(tensor, tensor.cast(dtype))

    def apply(self: Self, function: Callable[[AnyModule], Any]) -> Self:
        """Call `function` with every module below this one, children first, and with this one last.

        Returns the module.
        """
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    # Text

    def extra_repr(self) -> str:
        """The text between the parentheses of this module's line."""
        return ""

    def _repr_html_(self) -> str:
        import html  # late, because it loads a table of all HTML entities

        return f"<pre>{html.escape(repr(self))}</pre>"

    def __repr__(self) -> str:
        own = self.extra_repr().split("\n") if self.extra_repr() else []
        lines = own + [f"({name}): {text}" for name, text in self._child_texts()]
        if lines == own and len(own) <= 1:
            return f"{self._get_name()}({''.join(own)})"
        inner = "\n".join(lines).replace("\n", "\n  ")
        return f"{self._get_name()}(\n  {inner}\n)"

    def _child_texts(self) -> Iterator[tuple[str, str]]:
        """The text of each child, by name."""
        for name, child in self.named_children():
            yield name, repr(child)


class Module(AnyModule):
    """The base of all layers. A layer defines `forward`, and is called as a function.

    >>> class Scale(nn.Module):
    ...     def __init__(self, size):
    ...         self.factor = nn.Parameter(ogive.ones(size))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> scale = Scale(3)
    >>> scale(Tensor([1.0, 2.0, 3.0])).tolist()
    [1.0, 2.0, 3.0]
    >>> [name for name, _ in scale.named_parameters()]
    ['factor']

    An error inside a nested module names the path to it: `layers.3.attention: expected ...`.
    """

    _sees_containers = True
