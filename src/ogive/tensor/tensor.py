"""`Tensor`: the table of its methods. Each method is a function in the module of its family."""

from __future__ import annotations

from typing import Any

from ogive.compat.methods import missing_attributes, tensor_types
from ogive.compiler.ir.dtype import to_dtype
from ogive.compiler.live.registry import graph_lock
from ogive.tensor.core import Core, adopt, attribute, bind_class, settable, to_device
from ogive.tensor.creation import user_data
from ogive.tensor.elementwise import arithmetic, complex_numbers, unary_functions
from ogive.tensor.gradients import differentiation
from ogive.tensor.indexing import advanced_indexing
from ogive.tensor.late_methods import FAMILIES_ARE_LATE, late_families
from ogive.tensor.linear_algebra import matrix_product, named_products
from ogive.tensor.memory import assignment, in_place_operations
from ogive.tensor.memory.in_place_operations import in_place, in_shape
from ogive.tensor.movement import basic_movements, derived_movements
from ogive.tensor.neural import activations, dot_product_attention, feature_normalization
from ogive.tensor.reduction import basic_reductions, log_sum_exp
from ogive.tensor.values import conversion, evaluation, python_values, sharding, tensor_facts

if FAMILIES_ARE_LATE:
    late = {
        "creation": ("new_like", "sampling"),
        "elementwise": ("pairwise", "special_functions", "unary_compositions"),
        "indexing": ("scattering", "selection"),
        "linear_algebra": ("inverses", "matrix_functions"),
        "losses": ("classification", "margins", "regression"),
        "movement": ("diagonals", "padding", "repeating", "splitting"),
        "neural": (
            "adaptive_pooling", "convolutions", "im2col", "resize", "table_lookup",
            "window_pooling",
        ),
        "reduction": ("scanning", "statistics"),
        "sorting": ("order_statistics",),
        "values": ("interchange", "named_casts"),
    }  # fmt: skip
    globals().update(late_families(late))
else:
    from ogive.tensor.creation import new_like, sampling
    from ogive.tensor.elementwise import pairwise, special_functions, unary_compositions
    from ogive.tensor.indexing import scattering, selection
    from ogive.tensor.linear_algebra import inverses, matrix_functions
    from ogive.tensor.losses import classification, margins, regression
    from ogive.tensor.movement import diagonals, padding, repeating, splitting
    from ogive.tensor.neural import (
        adaptive_pooling,
        convolutions,
        im2col,
        resize,
        table_lookup,
        window_pooling,
    )
    from ogive.tensor.reduction import scanning, statistics
    from ogive.tensor.sorting import order_statistics
    from ogive.tensor.values import interchange, named_casts


class Tensor(Core):
    """An array whose values are computed when they are needed.

    `Tensor(data, dtype=None, device=None)` copies a number, nested lists or an array. A Python
    float becomes float32, an integer int64; arrays keep their dtype. `requires_grad` asks for
    gradients: see `requires_grad_`.

    >>> x = Tensor([[1, 2], [3, 4]])
    >>> (x * 10).sum(0).tolist()
    [40, 60]

    Raises `ShapeError` for ragged lists, `DtypeError` for data that are not numbers.
    """

    __slots__ = ()

    def __init__(
        self,
        data: Any,
        dtype: Any = None,
        device: str | None = None,
        requires_grad: bool = False,
    ) -> None:
        place = to_device(device)
        wanted = None if dtype is None else to_dtype(dtype)
        if requires_grad and isinstance(data, Tensor):
            data = data.detach()
        with graph_lock:
            adopt(self, user_data.node_of(data, wanted, place), place)
        if requires_grad:
            self.requires_grad_()

    # Values

    __hash__ = Core.__hash__
    nelement = Core.numel
    realize = evaluation.realize
    realize_batch = staticmethod(evaluation.realize_batch)
    prepare = evaluation.prepare
    prepare_batch = staticmethod(evaluation.prepare_batch)
    is_realized = attribute(evaluation.is_realized)
    shard = sharding.shard
    shard_like = sharding.shard_like
    sharding = attribute(sharding.sharding)

    from_numpy = staticmethod(python_values.from_numpy)
    from_file = staticmethod(python_values.from_file)
    numpy = python_values.to_numpy
    __array__ = python_values.to_array
    tolist = python_values.tolist
    item = python_values.item
    __bool__ = python_values.to_bool
    __contains__ = python_values.contains
    __float__ = python_values.to_float
    __int__ = python_values.to_int
    __repr__ = python_values.represent
    _repr_html_ = python_values.represent_as_html
    __str__ = python_values.show
    __format__ = python_values.formatted

    __dlpack__ = interchange.dlpack
    __dlpack_device__ = interchange.dlpack_device
    __array_namespace__ = interchange.array_namespace
    to_device = interchange.to_device
    __copy__ = interchange.shallow_copy
    __deepcopy__ = interchange.deep_copy
    __reduce__ = interchange.reduce
    __index__ = interchange.to_index
    __array_ufunc__ = interchange.array_ufunc
    __array_function__ = interchange.array_function

    cuda = tensor_types.cuda
    pin_memory = tensor_types.pin_memory
    is_pinned = tensor_types.is_pinned
    type = tensor_types.type

    data_ptr = missing_attributes.Missing(missing_attributes.STRIDES)
    storage = missing_attributes.Missing(missing_attributes.STRIDES)

    # Memory

    cast = conversion.cast
    bitcast = conversion.bitcast
    to = conversion.to
    cpu = conversion.cpu
    type_as = conversion.type_as
    clone = conversion.clone
    resolve_conj = resolve_neg = conversion.resolved
    contiguous = conversion.contiguous
    is_contiguous = conversion.is_contiguous
    stride = conversion.stride
    detach = conversion.detach

    bool = named_casts.bool
    char = named_casts.char
    short = named_casts.short
    byte = named_casts.byte
    int = named_casts.int
    long = named_casts.long
    half = named_casts.half
    bfloat16 = named_casts.bfloat16
    float = named_casts.float
    double = named_casts.double
    cfloat = named_casts.cfloat
    cdouble = named_casts.cdouble

    new_full = new_like.new_full
    new_zeros = new_like.new_zeros
    new_ones = new_like.new_ones
    new_empty = new_like.new_empty
    new_tensor = new_like.new_tensor

    assign = assignment.assign

    copy_ = in_place_operations.copy_
    fill_ = in_place_operations.fill_
    zero_ = in_place_operations.zero_
    fill_diagonal_ = in_place_operations.fill_diagonal_

    # Elementwise

    add = __add__ = __radd__ = arithmetic.add
    sub = subtract = __sub__ = arithmetic.sub
    mul = multiply = __mul__ = __rmul__ = arithmetic.mul
    div = divide = true_divide = __truediv__ = arithmetic.div
    floor_divide = __floordiv__ = arithmetic.floor_divide
    remainder = __mod__ = arithmetic.remainder
    pow = __pow__ = arithmetic.pow
    maximum = arithmetic.maximum
    minimum = arithmetic.minimum
    atan2 = arctan2 = arithmetic.atan2
    copysign = arithmetic.copysign
    clamp = clip = arithmetic.clamp
    clamp_min = arithmetic.clamp_min
    clamp_max = arithmetic.clamp_max
    lerp = arithmetic.lerp
    lt = less = __lt__ = arithmetic.lt
    le = less_equal = __le__ = arithmetic.le
    gt = greater = __gt__ = arithmetic.gt
    ge = greater_equal = __ge__ = arithmetic.ge
    eq = arithmetic.eq
    ne = not_equal = arithmetic.ne
    bitwise_and = __and__ = __rand__ = arithmetic.bitwise_and
    bitwise_or = __or__ = __ror__ = arithmetic.bitwise_or
    bitwise_xor = __xor__ = __rxor__ = arithmetic.bitwise_xor
    bitwise_left_shift = __lshift__ = arithmetic.bitwise_left_shift
    bitwise_right_shift = __rshift__ = arithmetic.bitwise_right_shift
    logical_and = arithmetic.logical_and
    logical_or = arithmetic.logical_or
    logical_xor = arithmetic.logical_xor
    __eq__ = arithmetic.is_equal  # type: ignore[assignment]
    __ne__ = arithmetic.is_unequal  # type: ignore[assignment]
    __rsub__ = arithmetic.reflected_sub
    __rtruediv__ = arithmetic.reflected_div
    __rfloordiv__ = arithmetic.reflected_floor_divide
    __rmod__ = arithmetic.reflected_remainder
    __rpow__ = arithmetic.reflected_pow
    __rlshift__ = arithmetic.reflected_left_shift
    __rrshift__ = arithmetic.reflected_right_shift
    add_ = __iadd__ = in_place(arithmetic.add)
    atan2_ = arctan2_ = in_place(arithmetic.atan2)
    bitwise_and_ = __iand__ = in_place(arithmetic.bitwise_and)
    bitwise_left_shift_ = __ilshift__ = in_place(arithmetic.bitwise_left_shift)
    bitwise_or_ = __ior__ = in_place(arithmetic.bitwise_or)
    bitwise_right_shift_ = __irshift__ = in_place(arithmetic.bitwise_right_shift)
    bitwise_xor_ = __ixor__ = in_place(arithmetic.bitwise_xor)
    clamp_ = clip_ = in_place(arithmetic.clamp)
    clamp_max_ = in_place(arithmetic.clamp_max)
    clamp_min_ = in_place(arithmetic.clamp_min)
    copysign_ = in_place(arithmetic.copysign)
    div_ = divide_ = true_divide_ = __itruediv__ = in_place(arithmetic.div)
    eq_ = in_place(arithmetic.eq)
    floor_divide_ = __ifloordiv__ = in_place(arithmetic.floor_divide)
    ge_ = greater_equal_ = in_place(arithmetic.ge)
    gt_ = greater_ = in_place(arithmetic.gt)
    le_ = less_equal_ = in_place(arithmetic.le)
    lerp_ = in_place(arithmetic.lerp)
    logical_and_ = in_place(arithmetic.logical_and)
    logical_or_ = in_place(arithmetic.logical_or)
    logical_xor_ = in_place(arithmetic.logical_xor)
    lt_ = less_ = in_place(arithmetic.lt)
    mul_ = multiply_ = __imul__ = in_place(arithmetic.mul)
    ne_ = not_equal_ = in_place(arithmetic.ne)
    pow_ = __ipow__ = in_place(arithmetic.pow)
    remainder_ = __imod__ = in_place(arithmetic.remainder)
    sub_ = subtract_ = __isub__ = in_place(arithmetic.sub)

    exp = unary_functions.exp
    exp2 = unary_functions.exp2
    expm1 = unary_functions.expm1
    log = unary_functions.log
    log2 = unary_functions.log2
    log10 = unary_functions.log10
    log1p = unary_functions.log1p
    sin = unary_functions.sin
    cos = unary_functions.cos
    tan = unary_functions.tan
    asin = arcsin = unary_functions.asin
    acos = arccos = unary_functions.acos
    atan = arctan = unary_functions.atan
    sinh = unary_functions.sinh
    cosh = unary_functions.cosh
    tanh = unary_functions.tanh
    asinh = arcsinh = unary_functions.asinh
    acosh = arccosh = unary_functions.acosh
    atanh = arctanh = unary_functions.atanh
    erf = unary_functions.erf
    erfc = unary_functions.erfc
    sqrt = unary_functions.sqrt
    rsqrt = unary_functions.rsqrt
    reciprocal = unary_functions.reciprocal
    square = unary_functions.square
    neg = negative = __neg__ = unary_functions.neg
    abs = absolute = __abs__ = unary_functions.abs
    sign = unary_functions.sign
    floor = unary_functions.floor
    ceil = unary_functions.ceil
    round = unary_functions.round
    trunc = fix = unary_functions.trunc
    isnan = unary_functions.isnan
    isinf = unary_functions.isinf
    isfinite = unary_functions.isfinite
    bitwise_not = __invert__ = unary_functions.bitwise_not
    logical_not = unary_functions.logical_not
    abs_ = absolute_ = in_place(unary_functions.abs)
    acos_ = arccos_ = in_place(unary_functions.acos)
    acosh_ = arccosh_ = in_place(unary_functions.acosh)
    asin_ = arcsin_ = in_place(unary_functions.asin)
    asinh_ = arcsinh_ = in_place(unary_functions.asinh)
    atan_ = arctan_ = in_place(unary_functions.atan)
    atanh_ = arctanh_ = in_place(unary_functions.atanh)
    bitwise_not_ = in_place(unary_functions.bitwise_not)
    ceil_ = in_place(unary_functions.ceil)
    cos_ = in_place(unary_functions.cos)
    cosh_ = in_place(unary_functions.cosh)
    erf_ = in_place(unary_functions.erf)
    erfc_ = in_place(unary_functions.erfc)
    exp_ = in_place(unary_functions.exp)
    exp2_ = in_place(unary_functions.exp2)
    expm1_ = in_place(unary_functions.expm1)
    floor_ = in_place(unary_functions.floor)
    log_ = in_place(unary_functions.log)
    log10_ = in_place(unary_functions.log10)
    log1p_ = in_place(unary_functions.log1p)
    log2_ = in_place(unary_functions.log2)
    logical_not_ = in_place(unary_functions.logical_not)
    neg_ = negative_ = in_place(unary_functions.neg)
    reciprocal_ = in_place(unary_functions.reciprocal)
    round_ = in_place(unary_functions.round)
    rsqrt_ = in_place(unary_functions.rsqrt)
    sign_ = in_place(unary_functions.sign)
    sin_ = in_place(unary_functions.sin)
    sinh_ = in_place(unary_functions.sinh)
    sqrt_ = in_place(unary_functions.sqrt)
    square_ = in_place(unary_functions.square)
    tan_ = in_place(unary_functions.tan)
    tanh_ = in_place(unary_functions.tanh)
    trunc_ = fix_ = in_place(unary_functions.trunc)

    positive = __pos__ = unary_compositions.positive
    frac = unary_compositions.frac
    sgn = unary_compositions.sgn
    signbit = unary_compositions.signbit
    sinc = unary_compositions.sinc
    angle = unary_compositions.angle
    frexp = unary_compositions.frexp
    deg2rad = unary_compositions.deg2rad
    rad2deg = unary_compositions.rad2deg
    logit = unary_compositions.logit
    nan_to_num = unary_compositions.nan_to_num
    isposinf = unary_compositions.isposinf
    isneginf = unary_compositions.isneginf
    isreal = unary_compositions.isreal
    deg2rad_ = in_place(unary_compositions.deg2rad)
    frac_ = in_place(unary_compositions.frac)
    logit_ = in_place(unary_compositions.logit)
    nan_to_num_ = in_place(unary_compositions.nan_to_num)
    rad2deg_ = in_place(unary_compositions.rad2deg)
    sgn_ = in_place(unary_compositions.sgn)
    sinc_ = in_place(unary_compositions.sinc)

    fmod = pairwise.fmod
    float_power = pairwise.float_power
    hypot = pairwise.hypot
    logaddexp = pairwise.logaddexp
    logaddexp2 = pairwise.logaddexp2
    xlogy = pairwise.xlogy
    xlog1py = pairwise.xlog1py
    ldexp = pairwise.ldexp
    fmax = pairwise.fmax
    fmin = pairwise.fmin
    heaviside = pairwise.heaviside
    nextafter = pairwise.nextafter
    addcmul = pairwise.addcmul
    addcdiv = pairwise.addcdiv
    where = pairwise.where
    masked_fill = pairwise.masked_fill
    isclose = pairwise.isclose
    allclose = pairwise.allclose
    equal = pairwise.equal
    addcdiv_ = in_place(pairwise.addcdiv)
    addcmul_ = in_place(pairwise.addcmul)
    float_power_ = in_place(pairwise.float_power)
    fmod_ = in_place(pairwise.fmod)
    heaviside_ = in_place(pairwise.heaviside)
    hypot_ = in_place(pairwise.hypot)
    ldexp_ = in_place(pairwise.ldexp)
    masked_fill_ = in_place(pairwise.masked_fill)
    nextafter_ = in_place(pairwise.nextafter)
    xlogy_ = in_place(pairwise.xlogy)

    lgamma = special_functions.lgamma
    digamma = special_functions.digamma
    polygamma = special_functions.polygamma
    mvlgamma = special_functions.mvlgamma
    erfinv = special_functions.erfinv
    ndtr = special_functions.ndtr
    ndtri = special_functions.ndtri
    i0 = special_functions.i0
    i0e = special_functions.i0e
    i1 = special_functions.i1
    i1e = special_functions.i1e
    digamma_ = in_place(special_functions.digamma)
    erfinv_ = in_place(special_functions.erfinv)
    i0_ = in_place(special_functions.i0)
    lgamma_ = in_place(special_functions.lgamma)
    mvlgamma_ = in_place(special_functions.mvlgamma)
    polygamma_ = in_place(special_functions.polygamma)

    real = attribute(complex_numbers.real)
    imag = attribute(complex_numbers.imag)
    conj = conj_physical = complex_numbers.conj
    __complex__ = complex_numbers.to_complex

    # Movement

    reshape = basic_movements.reshape
    flatten = basic_movements.flatten
    unflatten = basic_movements.unflatten
    squeeze = basic_movements.squeeze
    unsqueeze = basic_movements.unsqueeze
    permute = basic_movements.permute
    transpose = swapaxes = swapdims = basic_movements.transpose
    T = attribute(basic_movements.T)
    expand = basic_movements.expand
    shrink = basic_movements.shrink
    flip = basic_movements.flip
    squeeze_ = in_shape(basic_movements.squeeze)
    transpose_ = swapaxes_ = swapdims_ = in_shape(basic_movements.transpose)
    unsqueeze_ = in_shape(basic_movements.unsqueeze)

    size = tensor_facts.size
    dim = ndimension = tensor_facts.dim
    element_size = tensor_facts.element_size
    itemsize = attribute(tensor_facts.itemsize)
    nbytes = attribute(tensor_facts.nbytes)
    is_floating_point = tensor_facts.is_floating_point
    is_complex = tensor_facts.is_complex
    is_signed = tensor_facts.is_signed
    is_cpu = attribute(tensor_facts.is_cpu)
    is_cuda = attribute(tensor_facts.is_cuda)
    is_sparse = attribute(tensor_facts.is_sparse)
    is_quantized = attribute(tensor_facts.is_quantized)
    is_ipu = is_maia = is_meta = is_mkldnn = is_mps = attribute(tensor_facts.is_of_another_kind)
    is_mtia = is_nested = is_sparse_csr = is_vulkan = is_xla = is_xpu = is_ipu
    is_conj = is_inference = is_neg = tensor_facts.is_marked
    get_device = tensor_facts.get_device
    is_same_size = tensor_facts.is_same_size
    view = derived_movements.view
    view_as = reshape_as = derived_movements.view_as
    expand_as = derived_movements.expand_as
    broadcast_to = derived_movements.broadcast_to
    ravel = derived_movements.ravel
    movedim = moveaxis = derived_movements.movedim
    t = derived_movements.t
    mT = attribute(derived_movements.mT)
    mH = attribute(derived_movements.mH)
    H = attribute(derived_movements.H)
    adjoint = derived_movements.adjoint
    narrow = derived_movements.narrow
    select = derived_movements.select
    unfold = derived_movements.unfold
    select_scatter = derived_movements.select_scatter
    slice_scatter = derived_movements.slice_scatter
    t_ = in_shape(derived_movements.t)

    repeat = repeating.repeat
    tile = repeating.tile
    repeat_interleave = repeating.repeat_interleave
    roll = repeating.roll
    rot90 = repeating.rot90
    fliplr = repeating.fliplr
    flipud = repeating.flipud

    split = split_with_sizes = unsafe_split = splitting.split
    chunk = unsafe_chunk = splitting.chunk
    tensor_split = splitting.tensor_split
    hsplit = splitting.hsplit
    vsplit = splitting.vsplit
    dsplit = splitting.dsplit
    unbind = splitting.unbind

    diagonal = diagonals.diagonal
    diag = diagonals.diag
    diag_embed = diagonals.diag_embed
    diagflat = diagonals.diagflat
    diagonal_scatter = diagonals.diagonal_scatter
    trace = diagonals.trace
    tril = diagonals.tril
    triu = diagonals.triu
    tril_ = in_place(diagonals.tril)
    triu_ = in_place(diagonals.triu)

    pad = padding.pad

    # Indexing

    __getitem__ = advanced_indexing.get_item
    __setitem__ = advanced_indexing.set_item
    __len__ = advanced_indexing.length
    __iter__ = advanced_indexing.iterate

    gather = scattering.gather
    take_along_dim = scattering.take_along_dim
    take = scattering.take
    index_select = scattering.index_select
    scatter = scattering.scatter
    scatter_add = scattering.scatter_add
    scatter_reduce = scattering.scatter_reduce
    index_add = scattering.index_add
    index_copy = scattering.index_copy
    index_fill = scattering.index_fill
    index_reduce = scattering.index_reduce
    index_put = scattering.index_put
    put = scattering.put
    scatter_ = in_place(scattering.scatter)
    scatter_add_ = in_place(scattering.scatter_add)
    scatter_reduce_ = in_place(scattering.scatter_reduce)
    index_add_ = in_place(scattering.index_add)
    index_copy_ = in_place(scattering.index_copy)
    index_fill_ = in_place(scattering.index_fill)
    index_put_ = in_place(scattering.index_put)
    index_reduce_ = in_place(scattering.index_reduce)
    put_ = in_place(scattering.put)

    nonzero = selection.nonzero
    argwhere = selection.argwhere
    masked_select = selection.masked_select
    masked_scatter = selection.masked_scatter
    bincount = selection.bincount
    histc = selection.histc
    histogram = selection.histogram
    unique = selection.unique
    unique_consecutive = selection.unique_consecutive
    masked_scatter_ = in_place(selection.masked_scatter)

    # Reduction and order

    sum = basic_reductions.sum
    prod = basic_reductions.prod
    amax = basic_reductions.amax
    amin = basic_reductions.amin
    max = basic_reductions.max
    min = basic_reductions.min
    any = basic_reductions.any
    all = basic_reductions.all
    mean = basic_reductions.mean
    var = basic_reductions.var
    std = basic_reductions.std
    argmax = basic_reductions.argmax
    argmin = basic_reductions.argmin

    norm = statistics.norm
    dist = statistics.dist
    aminmax = statistics.aminmax
    nansum = statistics.nansum
    nanmean = statistics.nanmean
    count_nonzero = statistics.count_nonzero
    var_mean = statistics.var_mean
    std_mean = statistics.std_mean
    renorm = statistics.renorm
    sum_to_size = statistics.sum_to_size
    diff = statistics.diff
    cov = statistics.cov
    corrcoef = statistics.corrcoef
    renorm_ = in_place(statistics.renorm)

    softmax = log_sum_exp.softmax
    log_softmax = log_sum_exp.log_softmax
    softmin = log_sum_exp.softmin
    logsumexp = log_sum_exp.logsumexp
    normalize = log_sum_exp.normalize

    cumsum = scanning.cumsum
    cumprod = scanning.cumprod
    cummax = scanning.cummax
    cummin = scanning.cummin
    logcumsumexp = scanning.logcumsumexp
    cumprod_ = in_place(scanning.cumprod)
    cumsum_ = in_place(scanning.cumsum)

    argsort = order_statistics.argsort
    sort = order_statistics.sort
    msort = order_statistics.msort
    topk = order_statistics.topk
    kthvalue = order_statistics.kthvalue
    median = order_statistics.median
    nanmedian = order_statistics.nanmedian
    mode = order_statistics.mode
    quantile = order_statistics.quantile
    nanquantile = order_statistics.nanquantile

    # Linear algebra

    matmul = __matmul__ = matrix_product.matmul
    __rmatmul__ = matrix_product.reflected_matmul

    mm = named_products.mm
    bmm = named_products.bmm
    mv = named_products.mv
    dot = named_products.dot
    vdot = named_products.vdot
    inner = named_products.inner
    outer = ger = named_products.outer
    kron = named_products.kron
    cross = named_products.cross
    addmm = named_products.addmm
    addmv = named_products.addmv
    addr = named_products.addr
    baddbmm = named_products.baddbmm
    addbmm = named_products.addbmm
    linear = named_products.linear
    bilinear = named_products.bilinear
    addbmm_ = in_place(named_products.addbmm)
    addmm_ = in_place(named_products.addmm)
    addmv_ = in_place(named_products.addmv)
    addr_ = in_place(named_products.addr)
    baddbmm_ = in_place(named_products.baddbmm)

    det = inverses.det
    slogdet = inverses.slogdet
    logdet = matrix_functions.logdet
    inverse = matrix_functions.inverse
    pinverse = matrix_functions.pinverse
    cholesky = matrix_functions.cholesky
    qr = matrix_functions.qr
    svd = matrix_functions.svd
    matrix_power = matrix_functions.matrix_power

    # Neural networks

    relu = activations.relu
    sigmoid = activations.sigmoid
    silu = activations.silu
    gelu = activations.gelu
    relu6 = activations.relu6
    hardtanh = activations.hardtanh
    hardsigmoid = activations.hardsigmoid
    hardswish = activations.hardswish
    leaky_relu = activations.leaky_relu
    rrelu = activations.rrelu
    prelu = activations.prelu
    elu = activations.elu
    selu = activations.selu
    celu = activations.celu
    softplus = activations.softplus
    logsigmoid = activations.logsigmoid
    mish = activations.mish
    softsign = activations.softsign
    tanhshrink = activations.tanhshrink
    softshrink = activations.softshrink
    hardshrink = activations.hardshrink
    threshold = activations.threshold
    glu = activations.glu
    celu_ = in_place(activations.celu)
    elu_ = in_place(activations.elu)
    hardsigmoid_ = in_place(activations.hardsigmoid)
    hardswish_ = in_place(activations.hardswish)
    hardtanh_ = in_place(activations.hardtanh)
    leaky_relu_ = in_place(activations.leaky_relu)
    mish_ = in_place(activations.mish)
    relu_ = in_place(activations.relu)
    relu6_ = in_place(activations.relu6)
    selu_ = in_place(activations.selu)
    sigmoid_ = in_place(activations.sigmoid)
    silu_ = in_place(activations.silu)
    threshold_ = in_place(activations.threshold)

    scaled_dot_product_attention = dot_product_attention.scaled_dot_product_attention

    conv1d = convolutions.conv1d
    conv2d = convolutions.conv2d
    conv3d = convolutions.conv3d
    conv_transpose1d = convolutions.conv_transpose1d
    conv_transpose2d = convolutions.conv_transpose2d
    conv_transpose3d = convolutions.conv_transpose3d

    unfold_windows = im2col.unfold_windows
    fold_windows = im2col.fold_windows

    max_pool1d = window_pooling.max_pool1d
    max_pool2d = window_pooling.max_pool2d
    max_pool3d = window_pooling.max_pool3d
    avg_pool1d = window_pooling.avg_pool1d
    avg_pool2d = window_pooling.avg_pool2d
    avg_pool3d = window_pooling.avg_pool3d
    lp_pool1d = window_pooling.lp_pool1d
    lp_pool2d = window_pooling.lp_pool2d
    lp_pool3d = window_pooling.lp_pool3d

    adaptive_avg_pool1d = adaptive_pooling.adaptive_avg_pool1d
    adaptive_avg_pool2d = adaptive_pooling.adaptive_avg_pool2d
    adaptive_avg_pool3d = adaptive_pooling.adaptive_avg_pool3d
    adaptive_max_pool1d = adaptive_pooling.adaptive_max_pool1d
    adaptive_max_pool2d = adaptive_pooling.adaptive_max_pool2d
    adaptive_max_pool3d = adaptive_pooling.adaptive_max_pool3d

    batch_norm = feature_normalization.batch_norm
    instance_norm = feature_normalization.instance_norm
    group_norm = feature_normalization.group_norm
    layer_norm = feature_normalization.layer_norm
    rms_norm = feature_normalization.rms_norm
    local_response_norm = feature_normalization.local_response_norm

    interpolate = resize.interpolate
    pixel_shuffle = resize.pixel_shuffle
    pixel_unshuffle = resize.pixel_unshuffle
    channel_shuffle = resize.channel_shuffle

    embedding = table_lookup.embedding
    one_hot = table_lookup.one_hot

    mse_loss = regression.mse_loss
    l1_loss = regression.l1_loss
    smooth_l1_loss = regression.smooth_l1_loss
    huber_loss = regression.huber_loss
    kl_div = regression.kl_div
    poisson_nll_loss = regression.poisson_nll_loss
    gaussian_nll_loss = regression.gaussian_nll_loss

    cross_entropy = classification.cross_entropy
    nll_loss = classification.nll_loss
    binary_cross_entropy = classification.binary_cross_entropy
    binary_cross_entropy_with_logits = classification.binary_cross_entropy_with_logits

    margin_ranking_loss = margins.margin_ranking_loss
    hinge_embedding_loss = margins.hinge_embedding_loss
    soft_margin_loss = margins.soft_margin_loss
    cosine_embedding_loss = margins.cosine_embedding_loss
    multi_margin_loss = margins.multi_margin_loss
    multilabel_margin_loss = margins.multilabel_margin_loss
    multilabel_soft_margin_loss = margins.multilabel_soft_margin_loss
    triplet_margin_loss = margins.triplet_margin_loss
    triplet_margin_with_distance_loss = margins.triplet_margin_with_distance_loss

    # Randomness

    uniform_ = sampling.uniform_
    normal_ = sampling.normal_
    exponential_ = sampling.exponential_
    cauchy_ = sampling.cauchy_
    log_normal_ = sampling.log_normal_
    geometric_ = sampling.geometric_
    bernoulli_ = sampling.bernoulli_
    random_ = sampling.random_
    bernoulli = sampling.bernoulli
    multinomial = sampling.multinomial
    dropout = sampling.dropout
    alpha_dropout = sampling.alpha_dropout
    feature_alpha_dropout = sampling.feature_alpha_dropout
    dropout1d = sampling.dropout1d
    dropout2d = sampling.dropout2d
    dropout3d = sampling.dropout3d

    # Gradients

    requires_grad = settable(differentiation.requires_grad, differentiation.set_requires_grad)
    is_leaf = attribute(differentiation.is_leaf)
    grad_fn = attribute(differentiation.grad_fn)
    requires_grad_ = differentiation.requires_grad_
    detach_ = differentiation.detach_
    data = settable(differentiation.data, differentiation.set_data)
    grad = settable(differentiation.grad, differentiation.set_grad)
    register_hook = differentiation.register_hook
    register_post_accumulate_grad_hook = differentiation.register_post_accumulate_grad_hook
    retain_grad = differentiation.retain_grad
    retains_grad = attribute(differentiation.retains_grad)
    backward = differentiation.backward


bind_class(Tensor)
