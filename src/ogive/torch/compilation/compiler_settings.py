"""`torch._dynamo.config` and `torch._inductor.config`: settings of PyTorch's compiler.

Programs set them. They keep their values, and nothing here reads them.
"""

from __future__ import annotations

__all__ = [
    "accumulated_cache_size_limit", "cache_size_limit", "capture_scalar_outputs",
    "coordinate_descent_tuning", "epilogue_fusion", "force_parameter_static_shapes",
    "fx_graph_cache", "max_autotune", "optimize_ddp", "recompile_limit", "suppress_errors",
    "verbose",
]  # fmt: skip

accumulated_cache_size_limit = 256
cache_size_limit = recompile_limit = 8
capture_scalar_outputs = coordinate_descent_tuning = epilogue_fusion = False
force_parameter_static_shapes = optimize_ddp = fx_graph_cache = True
max_autotune = suppress_errors = verbose = False
