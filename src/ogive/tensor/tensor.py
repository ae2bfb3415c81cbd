"""`Tensor`: the table of its methods. What each does stands in the module of its family."""

from __future__ import annotations

from typing import Any

from ogive.ir.dtype import to_dtype
from ogive.live.registry import graph_lock
from ogive.tensor import (
    activation,
    adaptive,
    advanced,
    arithmetic,
    assignment,
    attention,
    classification,
    complex,
    conversion,
    convolution,
    decompositions,
    diagonals,
    differentiable,
    elementwise,
    evaluation,
    folding,
    functions,
    in_place_operations,
    interchange,
    kinds,
    linalg,
    log_sum_exp,
    losses,
    margins,
    movement,
    named_casts,
    named_products,
    new,
    normalization,
    padding,
    pairwise,
    pooling,
    product,
    reduction,
    repeating,
    resize,
    sampling,
    scanning,
    scattering,
    selection,
    shaping,
    sorting,
    special,
    splitting,
    statistics,
    storage,
    table_lookup,
    unlike,
    values,
)
from ogive.tensor.core import Core, adopt, attribute, bind_class, settable, to_device
from ogive.tensor.in_place_operations import in_place, in_shape


class Tensor(Core):
    """An array whose values are computed when they are asked for.

    `Tensor(data, dtype=None, device=None)` copies a number, nested lists or an array. A Python
    float becomes float32, an integer int64; arrays keep their dtype. With `requires_grad` gradients
    are wanted for it: see `requires_grad_`.

    >>> x = Tensor([[1, 2], [3, 4]])
    >>> (x * 10).sum(0).tolist()
    [40, 60]

    Raises `ShapeError` for ragged lists, `DtypeError` for what is not numbers.
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
            adopt(self, storage.node_of(data, wanted, place), place)
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

    from_numpy = staticmethod(values.from_numpy)
    from_file = staticmethod(values.from_file)
    numpy = values.to_numpy
    __array__ = values.to_array
    tolist = values.tolist
    item = values.item
    __bool__ = values.to_bool
    __contains__ = values.contains
    __float__ = values.to_float
    __int__ = values.to_int
    __repr__ = values.represent
    __str__ = values.show
    __format__ = values.formatted

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

    cuda = kinds.cuda
    pin_memory = kinds.pin_memory
    is_pinned = kinds.is_pinned
    type = kinds.type

    data_ptr = unlike.Missing(unlike.STRIDES)
    grad_fn = unlike.Missing(
        "a graph is made of nodes, see `node`; is_leaf says whether it was computed"
    )
    storage = unlike.Missing(unlike.STRIDES)
    stride = unlike.Missing(unlike.STRIDES)

    # Memory

    cast = conversion.cast
    bitcast = conversion.bitcast
    to = conversion.to
    cpu = conversion.cpu
    type_as = conversion.type_as
    clone = resolve_conj = resolve_neg = conversion.clone
    contiguous = conversion.contiguous
    is_contiguous = conversion.is_contiguous
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

    new_full = new.new_full
    new_zeros = new.new_zeros
    new_ones = new.new_ones
    new_empty = new.new_empty
    new_tensor = new.new_tensor

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

    exp = functions.exp
    exp2 = functions.exp2
    expm1 = functions.expm1
    log = functions.log
    log2 = functions.log2
    log10 = functions.log10
    log1p = functions.log1p
    sin = functions.sin
    cos = functions.cos
    tan = functions.tan
    asin = arcsin = functions.asin
    acos = arccos = functions.acos
    atan = arctan = functions.atan
    sinh = functions.sinh
    cosh = functions.cosh
    tanh = functions.tanh
    asinh = arcsinh = functions.asinh
    acosh = arccosh = functions.acosh
    atanh = arctanh = functions.atanh
    erf = functions.erf
    erfc = functions.erfc
    sqrt = functions.sqrt
    rsqrt = functions.rsqrt
    reciprocal = functions.reciprocal
    square = functions.square
    neg = negative = __neg__ = functions.neg
    abs = absolute = __abs__ = functions.abs
    sign = functions.sign
    floor = functions.floor
    ceil = functions.ceil
    round = functions.round
    trunc = fix = functions.trunc
    isnan = functions.isnan
    isinf = functions.isinf
    isfinite = functions.isfinite
    bitwise_not = __invert__ = functions.bitwise_not
    logical_not = functions.logical_not
    abs_ = absolute_ = in_place(functions.abs)
    acos_ = arccos_ = in_place(functions.acos)
    acosh_ = arccosh_ = in_place(functions.acosh)
    asin_ = arcsin_ = in_place(functions.asin)
    asinh_ = arcsinh_ = in_place(functions.asinh)
    atan_ = arctan_ = in_place(functions.atan)
    atanh_ = arctanh_ = in_place(functions.atanh)
    bitwise_not_ = in_place(functions.bitwise_not)
    ceil_ = in_place(functions.ceil)
    cos_ = in_place(functions.cos)
    cosh_ = in_place(functions.cosh)
    erf_ = in_place(functions.erf)
    erfc_ = in_place(functions.erfc)
    exp_ = in_place(functions.exp)
    exp2_ = in_place(functions.exp2)
    expm1_ = in_place(functions.expm1)
    floor_ = in_place(functions.floor)
    log_ = in_place(functions.log)
    log10_ = in_place(functions.log10)
    log1p_ = in_place(functions.log1p)
    log2_ = in_place(functions.log2)
    logical_not_ = in_place(functions.logical_not)
    neg_ = negative_ = in_place(functions.neg)
    reciprocal_ = in_place(functions.reciprocal)
    round_ = in_place(functions.round)
    rsqrt_ = in_place(functions.rsqrt)
    sign_ = in_place(functions.sign)
    sin_ = in_place(functions.sin)
    sinh_ = in_place(functions.sinh)
    sqrt_ = in_place(functions.sqrt)
    square_ = in_place(functions.square)
    tan_ = in_place(functions.tan)
    tanh_ = in_place(functions.tanh)
    trunc_ = fix_ = in_place(functions.trunc)

    positive = __pos__ = elementwise.positive
    frac = elementwise.frac
    sgn = elementwise.sgn
    signbit = elementwise.signbit
    sinc = elementwise.sinc
    angle = elementwise.angle
    frexp = elementwise.frexp
    deg2rad = elementwise.deg2rad
    rad2deg = elementwise.rad2deg
    logit = elementwise.logit
    nan_to_num = elementwise.nan_to_num
    isposinf = elementwise.isposinf
    isneginf = elementwise.isneginf
    isreal = elementwise.isreal
    deg2rad_ = in_place(elementwise.deg2rad)
    frac_ = in_place(elementwise.frac)
    logit_ = in_place(elementwise.logit)
    nan_to_num_ = in_place(elementwise.nan_to_num)
    rad2deg_ = in_place(elementwise.rad2deg)
    sgn_ = in_place(elementwise.sgn)
    sinc_ = in_place(elementwise.sinc)

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

    lgamma = special.lgamma
    digamma = special.digamma
    polygamma = special.polygamma
    mvlgamma = special.mvlgamma
    erfinv = special.erfinv
    ndtr = special.ndtr
    ndtri = special.ndtri
    i0 = special.i0
    i0e = special.i0e
    i1 = special.i1
    i1e = special.i1e
    digamma_ = in_place(special.digamma)
    erfinv_ = in_place(special.erfinv)
    i0_ = in_place(special.i0)
    lgamma_ = in_place(special.lgamma)
    mvlgamma_ = in_place(special.mvlgamma)
    polygamma_ = in_place(special.polygamma)

    real = attribute(complex.real)
    imag = attribute(complex.imag)
    conj = conj_physical = complex.conj
    __complex__ = complex.to_complex

    # Movement

    reshape = movement.reshape
    flatten = movement.flatten
    unflatten = movement.unflatten
    squeeze = movement.squeeze
    unsqueeze = movement.unsqueeze
    permute = movement.permute
    transpose = swapaxes = swapdims = movement.transpose
    T = attribute(movement.T)
    expand = movement.expand
    shrink = movement.shrink
    flip = movement.flip
    squeeze_ = in_shape(movement.squeeze)
    transpose_ = swapaxes_ = swapdims_ = in_shape(movement.transpose)
    unsqueeze_ = in_shape(movement.unsqueeze)

    size = shaping.size
    dim = ndimension = shaping.dim
    element_size = shaping.element_size
    itemsize = attribute(shaping.itemsize)
    nbytes = attribute(shaping.nbytes)
    is_floating_point = shaping.is_floating_point
    is_complex = shaping.is_complex
    is_signed = shaping.is_signed
    is_cpu = attribute(shaping.is_cpu)
    is_cuda = attribute(shaping.is_cuda)
    is_sparse = attribute(shaping.is_sparse)
    is_quantized = attribute(shaping.is_quantized)
    get_device = shaping.get_device
    is_same_size = shaping.is_same_size
    view = shaping.view
    view_as = reshape_as = shaping.view_as
    expand_as = shaping.expand_as
    broadcast_to = shaping.broadcast_to
    ravel = shaping.ravel
    movedim = moveaxis = shaping.movedim
    t = shaping.t
    mT = attribute(shaping.mT)
    mH = attribute(shaping.mH)
    H = attribute(shaping.H)
    adjoint = shaping.adjoint
    narrow = shaping.narrow
    select = shaping.select
    unfold = shaping.unfold
    select_scatter = shaping.select_scatter
    slice_scatter = shaping.slice_scatter
    t_ = in_shape(shaping.t)

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

    __getitem__ = advanced.get_item
    __setitem__ = advanced.set_item
    __len__ = advanced.length
    __iter__ = advanced.iterate

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

    sum = reduction.sum
    prod = reduction.prod
    amax = reduction.amax
    amin = reduction.amin
    max = reduction.max
    min = reduction.min
    any = reduction.any
    all = reduction.all
    mean = reduction.mean
    var = reduction.var
    std = reduction.std
    argmax = reduction.argmax
    argmin = reduction.argmin

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

    argsort = sorting.argsort
    sort = sorting.sort
    msort = sorting.msort
    topk = sorting.topk
    kthvalue = sorting.kthvalue
    median = sorting.median
    nanmedian = sorting.nanmedian
    mode = sorting.mode
    quantile = sorting.quantile
    nanquantile = sorting.nanquantile

    # Linear algebra

    matmul = __matmul__ = product.matmul
    __rmatmul__ = product.reflected_matmul

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

    det = decompositions.det
    slogdet = decompositions.slogdet
    logdet = linalg.logdet
    inverse = linalg.inverse
    pinverse = linalg.pinverse
    cholesky = linalg.cholesky
    qr = linalg.qr
    svd = linalg.svd
    matrix_power = linalg.matrix_power

    # Neural networks

    relu = activation.relu
    sigmoid = activation.sigmoid
    silu = activation.silu
    gelu = activation.gelu
    relu6 = activation.relu6
    hardtanh = activation.hardtanh
    hardsigmoid = activation.hardsigmoid
    hardswish = activation.hardswish
    leaky_relu = activation.leaky_relu
    rrelu = activation.rrelu
    prelu = activation.prelu
    elu = activation.elu
    selu = activation.selu
    celu = activation.celu
    softplus = activation.softplus
    logsigmoid = activation.logsigmoid
    mish = activation.mish
    softsign = activation.softsign
    tanhshrink = activation.tanhshrink
    softshrink = activation.softshrink
    hardshrink = activation.hardshrink
    threshold = activation.threshold
    glu = activation.glu
    celu_ = in_place(activation.celu)
    elu_ = in_place(activation.elu)
    hardsigmoid_ = in_place(activation.hardsigmoid)
    hardswish_ = in_place(activation.hardswish)
    hardtanh_ = in_place(activation.hardtanh)
    leaky_relu_ = in_place(activation.leaky_relu)
    mish_ = in_place(activation.mish)
    relu_ = in_place(activation.relu)
    relu6_ = in_place(activation.relu6)
    selu_ = in_place(activation.selu)
    sigmoid_ = in_place(activation.sigmoid)
    silu_ = in_place(activation.silu)
    threshold_ = in_place(activation.threshold)

    scaled_dot_product_attention = attention.scaled_dot_product_attention

    conv1d = convolution.conv1d
    conv2d = convolution.conv2d
    conv3d = convolution.conv3d
    conv_transpose1d = convolution.conv_transpose1d
    conv_transpose2d = convolution.conv_transpose2d
    conv_transpose3d = convolution.conv_transpose3d

    unfold_windows = folding.unfold_windows
    fold_windows = folding.fold_windows

    max_pool1d = pooling.max_pool1d
    max_pool2d = pooling.max_pool2d
    max_pool3d = pooling.max_pool3d
    avg_pool1d = pooling.avg_pool1d
    avg_pool2d = pooling.avg_pool2d
    avg_pool3d = pooling.avg_pool3d
    lp_pool1d = pooling.lp_pool1d
    lp_pool2d = pooling.lp_pool2d
    lp_pool3d = pooling.lp_pool3d

    adaptive_avg_pool1d = adaptive.adaptive_avg_pool1d
    adaptive_avg_pool2d = adaptive.adaptive_avg_pool2d
    adaptive_avg_pool3d = adaptive.adaptive_avg_pool3d
    adaptive_max_pool1d = adaptive.adaptive_max_pool1d
    adaptive_max_pool2d = adaptive.adaptive_max_pool2d
    adaptive_max_pool3d = adaptive.adaptive_max_pool3d

    batch_norm = normalization.batch_norm
    instance_norm = normalization.instance_norm
    group_norm = normalization.group_norm
    layer_norm = normalization.layer_norm
    rms_norm = normalization.rms_norm
    local_response_norm = normalization.local_response_norm

    interpolate = resize.interpolate
    pixel_shuffle = resize.pixel_shuffle
    pixel_unshuffle = resize.pixel_unshuffle
    channel_shuffle = resize.channel_shuffle

    embedding = table_lookup.embedding
    one_hot = table_lookup.one_hot

    mse_loss = losses.mse_loss
    l1_loss = losses.l1_loss
    smooth_l1_loss = losses.smooth_l1_loss
    huber_loss = losses.huber_loss
    kl_div = losses.kl_div
    poisson_nll_loss = losses.poisson_nll_loss
    gaussian_nll_loss = losses.gaussian_nll_loss

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

    requires_grad = settable(differentiable.requires_grad, differentiable.set_requires_grad)
    is_leaf = attribute(differentiable.is_leaf)
    requires_grad_ = differentiable.requires_grad_
    detach_ = differentiable.detach_
    data = settable(differentiable.data, differentiable.set_data)
    grad = settable(differentiable.grad, differentiable.set_grad)
    register_hook = differentiable.register_hook
    retain_grad = differentiable.retain_grad
    backward = differentiable.backward


bind_class(Tensor)
