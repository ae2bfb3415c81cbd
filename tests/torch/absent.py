"""What PyTorch has and `ogive.torch` has not, with the reason, and how that is written down.

`python -m tests.torch.absent` writes it into docs/pytorch.md.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import torch as pytorch

import ogive.torch

PAGE = Path(__file__).parents[2] / "docs" / "pytorch.md"
START = "## What is absent"

NAMESPACES = ("", "nn", "nn.functional", "optim", "linalg", "fft", "special")

TOOLS = (
    "BroadcastingList.*|Callable|DType|GRID_SAMPLE.*|Optional|TYPE_CHECKING|assert_int_or_pair"
    "|boolean_dispatch|has_torch_function.*|handle_torch_function|.*_notes|Tensor|factory_kwargs"
    "|merge_type.*|unify_type_list|parse_.*|typename|import_ir.*"
)
"""Names that are in a module of PyTorch's only because it uses or documents with them."""

REASONS = (
    ("sparse tensors", r".*sparse.*|.*(crow|col|row|ccol)_indices.*|(values|indices)(_copy)?"
     r"|hspmm|hsmm|dsmm|spmm|sspaddmm|saddmm|s?smm|coalesce|is_coalesced|SparseAdam|to_dense"
     r"|(dense|sparse)_dim"),
    ("quantized tensors", r".*quantize.*|.*_quant|q_.*|qu?int.*|qscheme|fbgemm.*|.*qparams.*"
     r"|int_repr|dequantize|to_mkldnn|is_mkldnn|empty_quantized|scaled_.*mm|ScalingType"
     r"|SwizzleType|grouped_mm"),
    ("strides and storages: memory is the compiler's", r"as_strided.*|.*[Ss]torage.*|.*data_ptr"
     r"|empty_(strided|permuted)|new_empty_strided|(re)?set_|is_set_to|resize.*|stride"
     r"|dim_order|share_memory_|is_shared|.*_copy|layout|slice_inverse"),
    ("kernels of vendors' libraries", r"(cudnn|miopen|mkldnn)_.*|convolution|conv_tbc|native_.*"
     r"|batch_norm_.*|.*_with_indices|(gru|lstm|rnn)(_.*)?|grid_sampler.*|affine_grid_generator"),
    ("insides of TorchScript, the dispatcher and the profiler", r".*Type|Script.*|.*Module"
     r"|.*Logger|.*Context|Py[TO].*|.*Config|.*Stats|.*Builder|Alias.*|Argument.*|.*Spec|Block"
     r"|CallStack|Capsule|Code|Compilation.*|DeepCopy.*|Dis.*|Error.*|Exc.*|Exec.*|FatalError"
     r"|FileCheck|Func.*Schema|Future|Gradient|Graph.*|IODescriptor|JITException|Node|Operator.*"
     r"|.*Benchmark|TracingState|Type|Use|Value|Tag|BufferDict|ModuleDict|ParameterDict|AVG|SUM"
     r"|fork|wait|cond|.*ThreadLocal.*|init_num_threads|is_vulkan.*|thread_safe_generator"
     r"|has_(lapack|mkl|openmp|spectral)|is_distributed|reinforce|as_subclass|module_load"
     r"|output_nr|name|volatile|grad_fn|retains_grad|grad_dtype|index|.*anomaly.*|.*warn.*"
     r"|.*deterministic_debug.*|swap_in_.*|hash_tensor"),
    ("symbolic sizes of PyTorch's compiler", r"Sym.*|sym_.*"),
    ("dtypes that no computation here has", r"bits?(\d.*)?|u?int[1-7]|float[48]_.*|complex32"
     r"|chalf"),
    ("other devices, streams and events", r"Event|Stream|Accelerator.*|get_device_module|ipu|xpu"
     r"|mtia|is_(ipu|maia|meta|mps|mtia|vulkan|xla|xpu|nested)|record_stream|to_padded_tensor"
     r"|SyncBatchNorm|get_num_interop_threads"),
    ("the switches inside of autocast", r".*autocast.*"),
    ("names that PyTorch itself has given up", r"eig|lstsq|lu|lu_solve|solve|symeig|new"
     r"|nuclear_norm|frobenius_norm|set_default_tensor_type|CrossMapLRN2d|norm_except_dim|Container"),
)  # fmt: skip
NOT_YET = "not yet"


def absent_names() -> dict[str, list[str]]:
    """For each namespace, and for the methods of tensors, the names that are not there."""
    found = {}
    for name in NAMESPACES:
        dotted = f".{name}" if name else ""
        theirs = importlib.import_module(f"torch{dotted}")
        ours = importlib.import_module(f"ogive.torch{dotted}")
        found[f"torch{dotted}"] = [each for each in public(theirs) if not hasattr(ours, each)]
    methods = [each for each in dir(pytorch.Tensor) if not each.startswith("_")]
    found["Tensor"] = [each for each in methods if not hasattr(ogive.Tensor, each)]
    return found


def public(module: ModuleType) -> list[str]:
    """The names of a module of PyTorch's that are its own."""
    names = getattr(module, "__all__", None) or dir(module)
    return sorted(
        name
        for name in names
        if not name.startswith("_")
        and not isinstance(getattr(module, name), ModuleType)
        and not re.fullmatch(TOOLS, name)
    )


def reason_for(name: str) -> str:
    """Why a name is absent."""
    return next((why for why, names in REASONS if re.fullmatch(names, name)), NOT_YET)


def missing_parameters() -> dict[str, list[str]]:
    """The parameters of PyTorch's layers, optimizers and schedules that ours do not take."""
    found = {}
    for name in ("nn", "optim", "optim.lr_scheduler"):
        theirs = importlib.import_module(f"torch.{name}")
        ours = importlib.import_module(f"ogive.torch.{name}")
        for each in public(theirs):
            if isinstance(getattr(theirs, each), type) and hasattr(ours, each):
                taken = _parameters(getattr(ours, each))
                left = _parameters(getattr(theirs, each)) - taken - {"**"}
                if left and "**" not in taken:  # which hands on what it is given
                    found[f"{name}.{each}"] = sorted(left)
    return found


def _parameters(function: Any) -> set[str]:
    named = inspect.signature(function).parameters.values()
    others = {"**" for each in named if each.kind is each.VAR_KEYWORD}
    return others | {
        each.name
        for each in named
        if not each.name.startswith("_")
        and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    }


def describe() -> str:
    """The section of docs/pytorch.md."""
    lines = [START, "", "Written by `python -m tests.torch.absent` from PyTorch 2.13's own names."]
    for namespace, names in absent_names().items():
        total = public_count(namespace)
        lines += ["", f"**{namespace}**: {len(names)} of {total}", ""]
        for why in (*[why for why, _ in REASONS], NOT_YET):
            chosen = [f"`{name}`" for name in names if reason_for(name) == why]
            if chosen:
                lines.append(f"- {why}: {', '.join(chosen)}")
    lines += ["", "Parameters that are not taken:", ""]
    for name, left in missing_parameters().items():
        lines.append(f"- `{name}`: {', '.join(left)}")
    return "\n".join(lines) + "\n"


def public_count(namespace: str) -> int:
    """How many names PyTorch has there."""
    if namespace == "Tensor":
        return len([each for each in dir(pytorch.Tensor) if not each.startswith("_")])
    return len(public(importlib.import_module(namespace)))


if __name__ == "__main__":
    before = PAGE.read_text().partition(START)[0]
    PAGE.write_text(before + describe())
