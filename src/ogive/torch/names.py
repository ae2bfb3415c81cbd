"""The tables behind `ogive.torch`: the module that defines each of PyTorch's names."""

from __future__ import annotations

METHODS = (
    "abs", "abs_", "absolute", "acos", "acos_", "acosh", "acosh_", "adaptive_avg_pool1d",
    "adaptive_max_pool1d", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addmv_", "addr",
    "adjoint", "all", "allclose", "alpha_dropout", "amax", "amin", "aminmax", "angle", "any",
    "arccos", "arccos_", "arccosh", "arccosh_", "arcsin", "arcsin_", "arcsinh", "arcsinh_",
    "arctan", "arctan2", "arctan_", "arctanh", "arctanh_", "argmax", "argmin", "argsort",
    "argwhere", "asin", "asin_", "asinh", "asinh_", "atan", "atan2", "atan_", "atanh", "atanh_",
    "avg_pool1d", "baddbmm", "bernoulli", "bilinear", "bincount", "bitwise_not", "bmm",
    "broadcast_to", "ceil", "ceil_", "celu", "celu_", "channel_shuffle", "cholesky", "chunk",
    "clamp", "clamp_", "clamp_max", "clamp_max_", "clamp_min", "clamp_min_", "clip", "clip_",
    "clone", "conj", "conj_physical", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "copysign", "corrcoef", "cos", "cos_", "cosh", "cosh_",
    "count_nonzero", "cov", "cross", "cummax", "cummin", "cumprod", "cumsum", "deg2rad", "deg2rad_",
    "det", "detach", "detach_", "diag", "diag_embed", "diagflat", "diagonal", "diagonal_scatter",
    "diff", "digamma", "dist", "dot", "dropout", "dsplit", "eq", "equal", "erf", "erf_", "erfc",
    "erfc_", "erfinv", "exp", "exp2", "exp2_", "exp_", "expm1", "expm1_", "feature_alpha_dropout",
    "fill_", "fix", "fix_", "flatten", "flip", "fliplr", "flipud", "floor", "floor_", "fmax",
    "fmin", "fmod", "frac", "frac_", "frexp", "gather", "ge", "ger", "get_device", "greater",
    "greater_equal", "group_norm", "gt", "hardshrink", "heaviside", "histc", "histogram", "hsplit",
    "hypot", "i0", "i0_", "index_add", "index_copy", "index_fill", "index_put", "index_put_",
    "index_reduce", "index_select", "inner", "inverse", "is_complex", "is_floating_point",
    "is_same_size", "is_signed", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf",
    "isreal", "kron", "kthvalue", "layer_norm", "ldexp", "ldexp_", "le", "lerp", "less",
    "less_equal", "lgamma", "log", "log10", "log10_", "log1p", "log1p_", "log2", "log2_", "log_",
    "log_softmax", "logaddexp", "logaddexp2", "logcumsumexp", "logdet", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "logit_", "logsumexp", "lt", "masked_fill",
    "masked_scatter", "masked_select", "matmul", "matrix_power", "max_pool1d", "max_pool2d",
    "max_pool3d", "maximum", "mean", "median", "minimum", "mm", "mode", "moveaxis", "movedim",
    "msort", "multinomial", "mv", "mvlgamma", "nan_to_num", "nan_to_num_", "nanmean", "nanmedian",
    "nanquantile", "nansum", "narrow", "ne", "neg", "neg_", "negative", "negative_", "nextafter",
    "nonzero", "norm", "not_equal", "numel", "outer", "permute", "pinverse", "pixel_shuffle",
    "pixel_unshuffle", "positive", "prelu", "prod", "put", "qr", "quantile", "rad2deg", "rad2deg_",
    "ravel", "reciprocal", "reciprocal_", "relu", "relu_", "renorm", "repeat_interleave", "reshape",
    "resolve_conj", "resolve_neg", "rms_norm", "roll", "rot90", "round", "round_", "rrelu", "rsqrt",
    "rsqrt_", "scatter", "scatter_add", "scatter_reduce", "select", "select_scatter", "selu",
    "selu_", "sgn", "sigmoid", "sigmoid_", "sign", "signbit", "sin", "sin_", "sinc", "sinc_",
    "sinh", "sinh_", "slice_scatter", "slogdet", "softmax", "sort", "split", "split_with_sizes",
    "sqrt", "sqrt_", "square", "square_", "squeeze", "std", "std_mean", "sum", "svd", "swapaxes",
    "swapdims", "t", "take", "take_along_dim", "tan", "tan_", "tanh", "tanh_", "tensor_split",
    "threshold", "threshold_", "tile", "topk", "trace", "transpose", "tril", "triu", "trunc",
    "trunc_", "unbind", "unflatten", "unique", "unique_consecutive", "unsafe_chunk", "unsafe_split",
    "unsqueeze", "var", "var_mean", "vdot", "vsplit", "xlogy_", "zero_",
)  # fmt: skip
"""Functions made from the methods of `Tensor` of the same name, which follow PyTorch."""

EVERYDAY = (
    "numpy.ma", "ogive.compat.function_names", "ogive.compat.pytorch.dtype_names", "ogive.data",
    "ogive.compiler.devices.cpu.device", "ogive.compiler.devices.cpu.processor",
    "ogive.compiler.engine", "ogive.compiler.targets.target", "ogive.distributions", "ogive.fft",
    "ogive.linalg", "ogive.nn.functional", "ogive.nn.utils", "ogive.nn.utils.rnn",
    "ogive.optim.lr_scheduler",
    "ogive.torch.networks.modules", "ogive.torch.networks.weights", "ogive.torch.tensors.fourier",
    "ogive.torch.tensors.functions", "ogive.torch.tensors.matrices",
    "ogive.torch.training.gradients", "ogive.torch.training.optimizers", "sqlite3",
)  # fmt: skip
"""Modules that are loaded with the namespace."""

NUMBER_FIRST = (
    "add", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "div", "divide", "float_power", "floor_divide", "mul", "multiply", "pow", "remainder", "sub",
    "subtract", "true_divide", "xlogy",
)  # fmt: skip
"""Functions made from methods, whose first operand may be a number: `torch.pow(2, x)`."""

SAME = (
    "Generator", "atleast_1d", "atleast_2d", "atleast_3d", "autocast", "bartlett_window",
    "bfloat16", "blackman_window", "block_diag", "bool", "broadcast_shapes", "broadcast_tensors",
    "bucketize", "can_cast", "cartesian_prod", "cat", "cdist", "cdouble", "cfloat",
    "cholesky_inverse", "cholesky_solve", "column_stack", "combinations", "complex", "complex128",
    "complex64", "concat", "concatenate", "constant_pad_nd", "cosine_similarity",
    "cumulative_trapezoid", "double", "dstack", "dtype", "e", "einsum", "enable_grad", "finfo",
    "float", "float16", "float32", "float64", "float8_e5m2", "from_dlpack", "gcd",
    "geqrf", "get_rng_state", "gradient", "half", "hamming_window",
    "hann_window", "histogramdd", "hstack", "iinfo", "imag", "inf", "inference_mode",
    "initial_seed", "int", "int16", "int32", "int64", "int8",
    "is_grad_enabled", "isin", "istft", "kaiser_window", "lcm", "long", "lu_unpack",
    "matrix_exp", "nan", "newaxis", "no_grad", "nonzero_static", "ormqr",
    "pairwise_distance", "pca_lowrank", "pi", "polar", "polygamma", "promote_types",
    "real", "result_type", "row_stack", "rsub", "searchsorted", "seed", "set_grad_enabled",
    "set_rng_state", "short", "stack", "stft", "svd_lowrank", "tensordot", "trapezoid", "trapz",
    "triangular_solve", "uint16", "uint32", "uint64", "uint8",
    "unravel_index", "view_as_complex", "view_as_real", "vstack", "where",
)  # fmt: skip
"""Names that mean the same in `ogive` and in PyTorch. They are the same objects, except functions
that take `out=` or operands of one dtype in PyTorch (`OUT_OF_SAME`, `ONE_DTYPE`)."""

OUT = frozenset(
    name for name in (*METHODS, *NUMBER_FIRST)
    if not name.endswith("_") and not name.startswith("is_")
)  # fmt: skip
"""Functions that take `out=`, a tensor to which the result is assigned."""

ONE_DTYPE = frozenset(("cdist", "cholesky_solve", "einsum", "tensordot"))
"""Functions whose tensors must be of one dtype in PyTorch."""

TAKING_OUT = ("fft", "linalg", "special")
"""Modules whose functions all take `out=`."""

OUT_OF_SAME = frozenset(("cat", "concat", "concatenate", "hstack", "stack", "vstack", "where"))

_DISTRIBUTIONS = (
    "bernoulli", "beta", "binomial", "categorical", "cauchy", "chi2", "continuous_bernoulli",
    "dirichlet", "distribution", "exp_family", "exponential", "fishersnedecor", "gamma",
    "geometric", "gumbel", "half_cauchy", "half_normal", "independent", "inverse_gamma", "kl",
    "kumaraswamy", "laplace", "lkj_cholesky", "log_normal", "logistic_normal",
    "lowrank_multivariate_normal",
    "mixture_same_family", "multinomial", "multivariate_normal", "negative_binomial", "normal",
    "one_hot_categorical", "pareto", "poisson", "relaxed_bernoulli", "relaxed_categorical",
    "studentT", "transformed_distribution", "uniform", "von_mises", "weibull",
)  # fmt: skip

_LAYERS = (
    "activation", "adaptive", "batchnorm", "container", "conv", "distance", "dropout", "flatten",
    "fold", "instancenorm", "linear", "loss", "normalization", "padding", "pixelshuffle",
    "pooling", "rnn", "sparse", "transformer", "upsampling",
)  # fmt: skip

_NN = (
    "ogive.torch.networks.modules", "ogive.nn", "ogive.torch.networks.layers",
    "ogive.torch.networks.buffers",
)

_TRACING = (
    "traced_node", "traced_graph", "proxies", "tracer", "graph_module", "interpreter",
    "pattern_replacement",
)  # fmt: skip

TREE: dict[str, tuple[str, ...]] = {
    "nn": _NN,
    "nn.functional": ("ogive.nn.functional", "ogive.torch.tensors.pooling_positions"),
    "nn.init": (
        "ogive.nn.init", "ogive.torch.networks.layers", "ogive.torch.networks.old_initial_values",
    ),
    "nn.modules": _NN,
    **{f"nn.modules.{name}": _NN for name in _LAYERS},
    "nn.modules.module": (*_NN, "ogive.torch.networks.module_hooks"),
    "nn.modules.utils": ("ogive.torch.networks.tuples",),
    "nn.quantized": ("ogive.torch.networks.float_stubs",),
    "ao": (),
    "ao.nn": (),
    "ao.nn.quantized": ("ogive.torch.networks.float_stubs",),
    "ao.quantization": ("ogive.torch.networks.float_stubs",),
    "nn.parallel": ("ogive.torch.processes.replicas",),
    "nn.parallel.data_parallel": ("ogive.torch.processes.replicas",),
    "nn.parallel.distributed": ("ogive.torch.processes.replicas",),
    "nn.parameter": ("ogive.nn",),
    "nn.attention": ("ogive.torch.networks.attention",),
    "nn.utils": ("ogive.torch.networks.weights", "ogive.nn.utils"),
    "nn.utils.clip_grad": ("ogive.nn.utils",),
    "nn.utils.fusion": ("ogive.torch.networks.fusion",),
    "nn.utils.convert_parameters": ("ogive.nn.utils",),
    "nn.utils.parametrizations": ("ogive.nn.utils.parametrizations",),
    "nn.utils.parametrize": ("ogive.nn.utils.parametrize",),
    "nn.utils.prune": ("ogive.nn.utils.prune",),
    "nn.utils.rnn": ("ogive.nn.utils.rnn",),
    "nn.utils.stateless": ("ogive.nn",),
    "optim": ("ogive.torch.training.optimizers", "ogive.optim"),
    "optim.lr_scheduler": ("ogive.optim.lr_scheduler", "ogive.torch.training.schedules"),
    "optim.optimizer": ("ogive.torch.training.optimizers", "ogive.optim"),
    "optim.swa_utils": ("ogive.optim.swa_utils",),
    **{
        f"optim.{name}": ("ogive.optim",)
        for name in ("adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "lbfgs", "nadam",
                     "radam", "rmsprop", "rprop", "sgd")
    },
    "utils": (),
    "utils.data": ("ogive.data", "ogive.torch.processes.distributed_data"),
    "utils.data.dataloader": ("ogive.data",),
    "utils.data.dataset": ("ogive.data",),
    "utils.data.sampler": ("ogive.data",),
    "utils.data.distributed": ("ogive.torch.processes.distributed_data",),
    "utils.dlpack": ("ogive.torch.tools.exchange",),
    "utils.model_zoo": ("ogive.torch.tools.hub",),
    "utils._pytree": ("ogive.torch.tools.trees",),
    "utils.hooks": ("ogive.torch.tools.hook_handles",),
    "utils.tensorboard": ("ogive.torch.tools.event_files",),
    "utils.tensorboard.writer": ("ogive.torch.tools.event_files",),
    "utils.checkpoint": ("ogive.torch.training.checkpoints",),
    "autograd": ("ogive.torch.training.gradients", "ogive.autograd"),
    "autograd.function": ("ogive.torch.training.function_contexts", "ogive.autograd"),
    "autograd.functional": ("ogive.torch.training.differentials",),
    "autograd.grad_mode": ("ogive.autograd",),
    "autograd.variable": ("ogive.torch.training.gradients",),
    "distributions": ("ogive.distributions",),
    **{f"distributions.{name}": ("ogive.distributions",) for name in _DISTRIBUTIONS},
    "distributions.constraint_registry": ("ogive.distributions.constraint_registry",),
    "distributions.constraints": ("ogive.distributions.constraints",),
    "distributions.transforms": ("ogive.distributions.transforms",),
    "distributions.utils": ("ogive.torch.tensors.distribution_parts",),
    "linalg": ("ogive.torch.tensors.matrices", "ogive.linalg"),
    "fft": ("ogive.torch.tensors.fourier", "ogive.fft"),
    "sparse": ("ogive.torch.tensors.sparse_functions",),
    "special": ("ogive.torch.tensors.specials", "ogive.special"),
    "masked": ("ogive.masked",),
    "signal": ("ogive.signal",),
    "signal.windows": ("ogive.signal.windows",),
    "func": ("ogive.torch.training.function_transforms",),
    "amp": ("ogive.torch.training.precision", "ogive.amp"),
    "amp.autocast_mode": (
        "ogive.torch.training.precision", "ogive.torch.training.autocast_by_hand", "ogive.amp",
    ),
    "amp.grad_scaler": ("ogive.amp",),
    "cuda": ("ogive.torch.machine.accelerators",),
    "cuda.amp": ("ogive.torch.training.cuda_precision",),
    "cuda.amp.autocast_mode": ("ogive.torch.training.cuda_precision",),
    "cuda.amp.grad_scaler": ("ogive.torch.training.cuda_precision", "ogive.amp.scaler"),
    "cuda.random": ("ogive.torch.machine.accelerators",),
    "jit": ("ogive.torch.compilation.scripting",),
    "jit.annotations": ("ogive.torch.compilation.script_types",),
    "library": ("ogive.torch.compilation.operator_library",),
    "_custom_ops": ("ogive.torch.compilation.operator_library",),
    "_C": ("ogive.torch.compilation.tracer_state",),
    "_dynamo": ("ogive.torch.compilation.tracer_state",),
    "_dynamo.config": ("ogive.torch.compilation.compiler_settings",),
    "_inductor": (),
    "_inductor.config": ("ogive.torch.compilation.compiler_settings",),
    "_dynamo.utils": ("ogive.torch.compilation.tracer_state",),
    "fx": tuple(f"ogive.torch.fx_graphs.{name}" for name in _TRACING),
    "fx.graph": ("ogive.torch.fx_graphs.traced_graph",),
    "fx.graph_module": ("ogive.torch.fx_graphs.graph_module",),
    "fx.interpreter": ("ogive.torch.fx_graphs.interpreter",),
    "fx.node": ("ogive.torch.fx_graphs.traced_node",),
    "fx.proxy": ("ogive.torch.fx_graphs.proxies",),
    "fx.subgraph_rewriter": ("ogive.torch.fx_graphs.pattern_replacement",),
    "compiler": ("ogive.torch.compilation.scripting",),
    "backends": (),
    **{
        f"backends.{name}": ("ogive.torch.machine.switches",)
        for name in ("cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum")
    },
    "accelerator": ("ogive.torch.machine.accelerators",),
    "mps": ("ogive.torch.machine.apple_devices",),
    "random": ("ogive.torch.machine.randomness",),
    "distributed": ("ogive.torch.processes.process_groups", "ogive.torch.processes.collectives"),
    "distributed.nn": ("ogive.torch.processes.differentiable",),
    "distributed.nn.functional": ("ogive.torch.processes.differentiable",),
    "distributed.algorithms": (),
    "distributed.algorithms.join": ("ogive.torch.processes.joining",),
    "distributed.checkpoint": (),
    "distributed.checkpoint.state_dict": ("ogive.torch.processes.whole_states",),
    "distributed.device_mesh": ("ogive.torch.processes.tensor_parallel",),
    "distributed.tensor": ("ogive.torch.processes.tensor_parallel",),
    "distributed.tensor.parallel": ("ogive.torch.processes.tensor_parallel",),
    "distributed._tensor": ("ogive.torch.processes.tensor_parallel",),
    "distributed._tensor.device_mesh": ("ogive.torch.processes.tensor_parallel",),
    "distributed.fsdp": ("ogive.torch.processes.sharding",),
    "distributed.fsdp.fully_sharded_data_parallel": ("ogive.torch.processes.sharding",),
    "distributed.fsdp.wrap": ("ogive.torch.processes.sharding",),
    "multiprocessing": ("ogive.torch.processes.starting",),
    "profiler": ("ogive.torch.tools.profiling",),
    "autograd.profiler": ("ogive.torch.tools.profiling",),
    "hub": ("ogive.torch.tools.hub",),
    "onnx": ("ogive.torch.tools.onnx_files",),
    "onnx.operators": ("ogive.torch.tools.onnx_files",),
    "onnx.symbolic_helper": ("ogive.torch.tools.onnx_files",),
    "onnx.symbolic_opset11": (),
    "serialization": (
        "ogive.torch.tools.files", "ogive.torch.tools.safe_names",
        "ogive.torch.tensors.annotations",
    ),
    "__config__": ("ogive.torch.machine.build_settings",),
    "version": ("ogive.torch.machine.release",),
    "types": ("ogive.torch.tensors.annotations",),
    "testing": ("ogive.torch.tensors.comparing",),
}  # fmt: skip
"""The modules below `ogive.torch`, each with the modules in which its names are looked up."""

COPIES = (
    "alias_copy", "detach_copy", "diagonal_copy", "expand_copy", "narrow_copy", "permute_copy",
    "select_copy", "split_copy", "split_with_sizes_copy", "squeeze_copy", "t_copy",
    "transpose_copy", "unbind_copy", "unfold_copy", "unsqueeze_copy", "view_copy",
)  # fmt: skip
"""Functions that copy what the view of the same name shows."""

OPERATORS = (
    "_chunk_cat", "_native_batch_norm_legit", "_softmax_backward_data", "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate", "as_strided", "as_strided_copy",
    "as_strided_scatter", "fill", "grid_sampler", "grid_sampler_2d",
    "grid_sampler_3d", "igamma", "igammac", "lu", "lu_solve", "native_batch_norm",
    "native_dropout_backward", "native_group_norm", "native_layer_norm",
)  # fmt: skip
"""Operators that `ogive` has in another form."""

_OF_LISTS = (
    "abs", "acos", "add", "addcdiv", "addcmul", "asin", "atan", "ceil", "clamp_max", "clamp_min",
    "clone", "copy", "cos", "cosh", "div", "erf", "erfc", "exp", "expm1", "floor", "frac", "lerp",
    "lgamma", "log", "log10", "log1p", "log2", "maximum", "minimum", "mul", "neg", "pow",
    "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "sub", "tan", "tanh",
    "trunc", "zero",
)  # fmt: skip

FOREACH = tuple(
    f"_foreach_{name}{end}" for name in _OF_LISTS for end in ("", "_")
    if name + end not in ("clone_", "copy", "zero")
)  # fmt: skip
"""Methods that are also functions of lists of tensors."""

OWN = {
    "ogive.torch.tensors.creation": (
        "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_permuted", "empty_strided",
        "eye", "from_file", "frombuffer", "full", "full_like", "linspace", "logspace", "normal",
        "ones", "ones_like", "rand", "rand_like", "randint", "randint_like", "randn",
        "randn_like", "randperm", "range", "scalar_tensor", "tensor", "tril_indices",
        "triu_indices", "zeros", "zeros_like",
    ),
    "ogive.torch.tensors.numpy_arrays": ("from_numpy",),
    "ogive.torch.tensors.functions": (
        "_shape_as_tensor", "chain_matmul", "ctc_loss", "embedding", "is_inference_mode_enabled",
        "is_nonzero", "max", "meshgrid", "min", "pdist", "vander",
    ),
    "ogive.torch.tensors.classes": (
        "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor",
        "HalfTensor", "IntTensor", "LongTensor", "OutOfMemoryError", "ShortTensor", "Size",
        "Tensor", "channels_last", "channels_last_3d", "contiguous_format", "device",
        "float8_e4m3fn", "is_tensor", "layout", "legacy_contiguous_format", "memory_format",
        "preserve_format", "sparse_coo", "strided",
    ),
    "ogive.torch.tensors.old_functions": (
        "alpha_dropout_", "batch_norm", "binary_cross_entropy_with_logits", "conj_physical_",
        "cosine_embedding_loss", "dropout_", "feature_alpha_dropout_", "feature_dropout",
        "feature_dropout_", "gcd_", "hinge_embedding_loss", "instance_norm", "is_conj",
        "is_inference", "is_neg", "kl_div", "lcm_", "margin_ranking_loss", "orgqr",
        "poisson_nll_loss", "resize_as_", "rrelu_", "triplet_margin_loss", "typename",
        "unsafe_split_with_sizes",
    ),
    "ogive.torch.tensors.sparse_matrices": ("smm", "sparse_coo_tensor", "spmm"),
    "ogive.torch.machine.defaults": (
        "are_deterministic_algorithms_enabled", "get_default_device", "get_default_dtype",
        "get_float32_matmul_precision", "get_num_threads", "set_default_device",
        "set_default_dtype", "set_float32_matmul_precision", "set_flush_denormal",
        "set_num_interop_threads", "set_num_threads", "use_deterministic_algorithms",
    ),
    "ogive.torch.texts.tensor_text": ("set_printoptions",),
    "ogive.torch.compilation.named_operators": ("ops",),
    "ogive.torch.tools.files": (
        "load", "save",
    ),
    "ogive.torch.compilation.capture": (
        "Compiled", "compile",
    ),
    "ogive.torch.machine.randomness": (
        "Generator", "binomial", "default_generator", "fork_rng", "get_rng_state", "initial_seed",
        "manual_seed", "poisson", "seed", "set_rng_state",
    ),
    "ogive.torch.tensors.operators": (*COPIES, *OPERATORS),
    "ogive.torch.tensors.lists": ("_assert", "_foreach_norm", *FOREACH),
    "ogive.torch.training.autocast_switches": (
        "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
        "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
        "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
        "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
        "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype",
    ),
    "ogive.torch.training.vectorizing": ("vmap",),
    "ogive.torch.training.precision": (
        "GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available",
    ),
}  # fmt: skip
"""The modules that define names whose meaning differs from ours, or which `ogive` lacks. Each is
loaded when one of its names is read."""
