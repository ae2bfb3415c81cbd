"""Python functions as nodes of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.devices.python_function import PythonFunction
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import FUNCTIONS
from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.compiler.ir.memory import host_value, memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live import registry
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentError, ArgumentTypeError, user_origin
from ogive.tensor import lengths
from ogive.tensor.core import DEFAULT_DEVICE, Core, same_device, to_integer, to_shape, wrap
from ogive.tensor.elementwise.complex_numbers import view_as_complex, view_as_real
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.values.custom_function_lengths import narrow, widen

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Output = tuple[Shape, DType]


def custom(
    function: Callable[..., None],
    inputs: Sequence[Tensor],
    outputs: Any,
    name: str | None = None,
    *,
    batched: bool = False,
) -> Any:
    """Values that a Python function computes, as a step of a plan between kernels.

    Each run calls `function(*inputs, *outputs)` with NumPy arrays: the values of `inputs`, which
    are read-only, and arrays of zeros to fill. It may keep the arrays. It must depend on nothing
    else, since it is called whenever a run needs one of its outputs, once for all of them.

    Shapes: `outputs` is one pair `(shape, dtype)`, for one tensor, or a list of pairs, for a list
    of tensors. Plans and errors call the function `name`. A `batched` function also accepts arrays
    with one more axis in front, the batch of `ogive.vmap`. With eager inputs (docs/eager.md) the
    function is called now.

    >>> def sort(values, result):
    ...     result[...] = numpy.sort(values)
    >>> x = Tensor([3.0, 1.0, 2.0])
    >>> (ogive.custom(sort, [x * 10], ((3,), "float32")) + 1).tolist()
    [11.0, 21.0, 31.0]

    Lengths may be symbolic: the function gets arrays of the lengths that their variables are bound
    to at each run.

    Raises `ArgumentTypeError` for an argument that is not a function, tensor or shape. If the
    function raises, the run raises an `ExecuteError` from that exception, which names the function
    and the line of this call; a plan stays usable.
    """
    if not callable(function):
        raise ArgumentTypeError(f"custom takes a function, not {type(function).__name__}")
    if not isinstance(inputs, tuple | list) or not all(isinstance(t, Core) for t in inputs):
        raise ArgumentTypeError(f"custom: the inputs must be a list of tensors, got {inputs!r}")
    several = isinstance(outputs, list)
    specified = tuple([_to_output(entry) for entry in (outputs if several else [outputs])])
    if not specified:
        raise ArgumentError("custom: a function needs at least one output")
    device = same_device(inputs, "custom") if inputs else DEFAULT_DEVICE
    label = name or getattr(function, "__name__", None) or type(function).__name__
    if inputs and all(tensor.is_eager for tensor in inputs):
        called = PythonFunction(function, str(label), user_origin(), batched)
        filled = eager_calls[custom](called, inputs, specified)
        if filled is not None:
            return filled if several else filled[0]
    shapes = [shape for shape, _ in specified]
    declared = [dtype for _, dtype in specified]
    function, given, specified = widen(function, inputs, specified)
    kinds = [*[tensor.dtype for tensor in given], *declared]
    if any(dtype.is_complex for dtype in kinds):
        function = _on_parts(function, kinds)
        given = [view_as_real(t) if t.dtype.is_complex else t for t in given]
        specified = tuple([_of_parts(output) for output in specified])
    with graph_lock:
        callee = make(Op.BUFFER, dtypes.uint8, (UOp.unique(),), (FUNCTIONS, 0))
        registry.set_buffer(callee, PythonFunction(function, str(label), user_origin(), batched))
        sources = (callee, *[in_memory(tensor.node) for tensor in given])
        tensors = []
        for number, (_, dtype) in enumerate(specified):
            node = make(Op.CUSTOM, dtype, sources, (str(label), specified, number))
            tensors.append(wrap(node, device))
    tensors = [
        narrow(view_as_complex(tensor) if dtype.is_complex else tensor, shape)
        for tensor, dtype, shape in zip(tensors, declared, shapes, strict=True)
    ]
    return tensors if several else tensors[0]


def _to_output(given: Any) -> Output:
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], tuple | list):
        raise ArgumentTypeError(
            f'custom: an output is given by shape and dtype, such as ((2, 3), "float32"), not '
            f"by {given!r}"
        )
    shape = to_shape((given[0],), "custom")
    sizes = [s if lengths.is_symbolic(s) else to_integer(s, "custom: a length") for s in shape]
    return tuple(sizes), to_dtype(given[1])


def _of_parts(output: Output) -> Output:
    """A complex output as a float output with a last axis for the parts."""
    shape, dtype = output
    return ((*shape, 2), dtype.part) if dtype.is_complex else output


def _on_parts(function: Callable[..., None], kinds: Sequence[DType]) -> Callable[..., None]:
    """`function`, called with float arrays whose last axis has the parts of complex numbers."""

    def call(*arrays: Any) -> None:
        seen = [
            array.view(dtype.numpy)[..., 0] if dtype.is_complex else array
            for array, dtype in zip(arrays, kinds, strict=True)
        ]
        function(*seen)

    return call


def in_memory(node: UOp) -> UOp:
    """A node that a function can read: memory, or a value that is stored first."""
    if memory_leaf(node).op in (Op.BUFFER, Op.AFTER) or host_value(node) is not None:
        return node
    return make(Op.CONTIGUOUS, node.dtype, (node,), ())
