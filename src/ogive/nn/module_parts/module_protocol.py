"""Further methods of PyTorch's modules: registered names, hooks of states, old names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.nn.module_parts.attribute_views import AttributeView
from ogive.nn.module_parts.hooks import HookView
from ogive.nn.module_parts.registration import check_name
from ogive.nn.module_parts.state_hooks import EXTRA, StateHook, hooks_of
from ogive.tensor.memory.data_attribute import replace_value

if TYPE_CHECKING:
    from ogive.nn.module import AnyModule
    from ogive.tensor.tensor import Tensor

Self = TypeVar("Self", bound="ModuleProtocol")


class ModuleProtocol:
    """The base of `Module`, for the names that only PyTorch's programs use."""

    _version = 1
    dump_patches = False
    call_super_init = False

    @property
    def _modules(self) -> AttributeView:
        """The modules directly below."""
        return AttributeView(self._own(), lambda own: own.named_children(), type(self).add_module)

    @_modules.setter
    def _modules(self, given: Mapping[str, Any]) -> None:
        self._modules.replace(given)

    @property
    def _parameters(self) -> AttributeView:
        """The parameters of this module alone."""
        from ogive.nn.module_parts.module_tree import parameters_of

        return AttributeView(self._own(), parameters_of, setattr)

    @_parameters.setter
    def _parameters(self, given: Mapping[str, Any]) -> None:
        self._parameters.replace(given)

    @property
    def _buffers(self) -> AttributeView:
        """The buffers of this module alone."""
        return AttributeView(
            self._own(), lambda own: own.named_buffers(recurse=False), _put_buffer
        )

    @_buffers.setter
    def _buffers(self, given: Mapping[str, Any]) -> None:
        self._buffers.replace(given)

    @property
    def _forward_hooks(self) -> HookView:
        """The hooks that are called after the module, by number."""
        return HookView(self._own(), before=False, is_backward=False)

    @_forward_hooks.setter
    def _forward_hooks(self, given: Mapping[int, Any]) -> None:
        self._forward_hooks.replace(given)

    @property
    def _forward_pre_hooks(self) -> HookView:
        """The hooks that are called before the module, by number."""
        return HookView(self._own(), before=True, is_backward=False)

    @_forward_pre_hooks.setter
    def _forward_pre_hooks(self, given: Mapping[int, Any]) -> None:
        self._forward_pre_hooks.replace(given)

    @property
    def _backward_hooks(self) -> HookView:
        """The hooks that are called when gradients have gone through, by number."""
        return HookView(self._own(), before=False, is_backward=True)

    @_backward_hooks.setter
    def _backward_hooks(self, given: Mapping[int, Any]) -> None:
        self._backward_hooks.replace(given)

    def _own(self) -> AnyModule:
        return self  # type: ignore[return-value]  # there is no other kind

    def add_module(self, name: str, module: AnyModule | None) -> None:
        """Make a module an attribute, by a name that was computed. Raises `RegistrationError` for
        a name that no attribute has, or that another one has."""
        if module is not None and not isinstance(module, ModuleProtocol):
            raise ArgumentTypeError(f"add_module takes a module or None, not {module!r}")
        check_name(self._own(), name, ModuleProtocol)
        setattr(self, name, module)

    def register_module(self, name: str, module: AnyModule | None) -> None:
        """`add_module`."""
        self.add_module(name, module)

    def set_submodule(self, target: str, module: AnyModule, strict: bool = False) -> None:
        """Set the module at a path such as `"layers.3.attention"`."""
        parent, _, name = target.rpartition(".")
        if not name:
            raise ArgumentError("set_submodule: the path is empty")
        setattr(self._own().get_submodule(parent), name, module)

    def register_backward_hook(self, hook: Callable[..., Any]) -> Any:
        """`register_full_backward_hook`."""
        return self._own().register_full_backward_hook(hook)

    # States

    def get_extra_state(self) -> Any:
        """For overriding: what else than tensors belongs to the state."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        """For overriding: take on what `get_extra_state` gave."""
        raise NotImplementedError(f"{type(self).__name__} defines no set_extra_state()")

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Add what this module has itself to a state."""
        from ogive.nn.module_parts.module_tree import state_of

        for name, tensor in state_of(self._own()):
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not ModuleProtocol.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Change the part of a state, under `prefix`, before it is loaded into this module.

        Subclasses may override it.
        """

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> StateHook:
        return StateHook(hooks_of(self._own(), "before loading"), hook, with_module)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> StateHook:
        """Call `hook(module, state, prefix, ...)` before a state is loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> StateHook:
        """Call `hook(module, incompatible_keys)` after a state was loaded."""
        return StateHook(hooks_of(self._own(), "after loading"), hook, True)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> StateHook:
        """Call `hook(module, prefix, keep_vars)` before a state is given out."""
        return StateHook(hooks_of(self._own(), "before saving"), hook, True)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> StateHook:
        return StateHook(hooks_of(self._own(), "after saving"), hook, True)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> StateHook:
        """Call `hook(module, state, prefix, metadata)` after `state_dict` has made a state."""
        return self._register_state_dict_hook(hook)

    # Moving and converting

    def _apply(self: Self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace each parameter and buffer by `fn` of it."""
        own = self._own()
        for tensor in [*own.parameters(recurse), *own.buffers(recurse)]:
            replace_value(tensor, fn(tensor.detach()))
        return self

    def type(self: Self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype, which may have PyTorch's name."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def to_empty(self: Self, *, device: Any, recurse: bool = True) -> Self:
        """Move to a device. Values are kept, unlike in PyTorch."""
        self._own().to(device)
        return self

    def share_memory(self: Self) -> Self:
        """Move the parameters and buffers to memory that processes share, each by its method
        `share_memory_()`, which tensors have under `ogive.torch`."""
        own = self._own()
        tensors: list[Any] = [*own.parameters(), *own.buffers()]
        for tensor in tensors:
            tensor.share_memory_()
        return self

    def _get_name(self) -> str:
        return type(self).__name__


def _put_buffer(module: AnyModule, name: str, value: Any) -> None:
    module.register_buffer(name, value, module._buffer_names.get(name, True))
