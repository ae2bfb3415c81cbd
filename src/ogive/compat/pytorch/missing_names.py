"""Names of PyTorch that `ogive` lacks, each with what the user may want instead."""

from __future__ import annotations

ADVICE = {
    "backends": "ogive.configure() has the settings",
    "compile": "ogive.jit captures and compiles a function",
    "distributions": "ogive.random has the draws",
    "func": "ogive has grad, vjp, jvp, vmap, jacrev, jacfwd, hessian, and nn functional_call",
    "get_default_dtype": "it is ogive.float32, always",
    "get_num_threads": "ogive.configure(threads=n) sets the number of threads",
    "set_default_dtype": "it is ogive.float32; dtype= and module.to(dtype) ask for others",
    "set_float32_matmul_precision": "float32 is multiplied in float32; ogive.autocast goes below",
    "set_num_threads": "use ogive.configure(threads=n)",
    "use_deterministic_algorithms": "all are: results are the same bits, however many threads",
    "utils": "ogive.data has DataLoader, ogive.checkpoint is what torch.utils.checkpoint has",
}

for _kind in ("Bool", "Byte", "Double", "Float", "Half", "Int", "Long", "Short"):
    ADVICE[f"{_kind}Tensor"] = "use ogive.tensor(values, dtype=...)"
