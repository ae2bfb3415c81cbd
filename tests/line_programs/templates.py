"""What lines are made of. Holes: `a` a tensor, `b` another, `d` an axis of `a`, `s` a slice, `k` a
small count, `o` a small number, `m` a mask, `p` positions along the first axis of `a`, `q` those of
all rows of `b`, `dt` a dtype. What a view shows, it shows once: it may be written through.
"""

from __future__ import annotations

VIEWS = """
{a}.T; {a}.transpose({d}, {d}); {a}.permute({order}); {a}[{s}]; {a}[..., {s}]; {a}[{s}, {s}]
{a}[None]; {a}[{o}]; {a}.reshape({shape}); {a}.view({shape}); {a}.flatten({d}); {a}.ravel()
{a}.unflatten({d}, ({k}, -1)); {a}.unfold({d}, 1, {k}); {a}.diagonal({o}, {d}, {d})
{a}.unfold({d}, 2, 3)
{a}.squeeze({d}); {a}.unsqueeze({d}); {a}.expand(1, *{a}.shape)
{a}.narrow({d}, {o}, {k}); {a}.select({d}, {o}); {a}.movedim({d}, {d})
{a}.chunk({k}, {d})[0]; {a}.split({k}, {d})[-1]; {a}.unbind({d})[0]; {a}.detach(); {a}.view_as({b})
{a}.tensor_split({k}, {d})[-1]; torch.atleast_3d({a}); {a}.view({a}.dtype); {a}.to({a}.dtype)
"""

MOVEMENTS = """
{a}.flip({d}); {a}.roll({o}, {d}); {a}.roll({o}); {a}.repeat({k}, {k}); {a}.tile({k}, {k})
{a}.repeat_interleave({k}, {d}); torch.cat(({a}, {b}), {d}); torch.stack(({a}, {b}), {d})
{a}.expand({k}, *{a}.shape); {a}.expand_as({b}); {a}.unfold({d}, {k}, 1)
{a}.clone(); F.pad({a}, ({k}, {k})); F.pad({a}, ({o}, {o}), value=2); {a}.rot90({o}, ({d}, {d}))
{a}.tril({o}); {a}.triu({o}); {a}.diag_embed({o}); torch.kron({a}, {b})
torch.diff({a}, dim={d}); torch.diff({a}, {k}, {d}); {a}.index_select(0, {p}); {a}[{p}]; {a}[:, {p}]
{a}[{p}, ..., {p}]; {a}[{m}]; {a}.where({m}, {b}); {a}.masked_fill({m}, {k}); {a}.nonzero()
{a}.unique(); {a}.sort({d}, stable=True)[0]; {a}.sort(dim={d}, descending=True)[0]
{a}.argsort(dim={d}, stable=True); {a}.topk({k}, {d})[0]; {a}.kthvalue({k}, {d})[0]
{a}.cummax({d})[0]; {a}.cummin({d})[0]; {a}.max({d})[0]; (+{a}).index_add(0, {q}, {b})
(+{a}).scatter_add(0, places({k}, {b}.shape, {a}.size(0)), {b})
{a}.index_fill(0, {p}, {k})
{a}.index_put(({p},), {b}, accumulate=True); {a}.slice_scatter({b}, {d}, {k}); {a}.isin({b})
{a}.gather(0, places({k}, {a}.shape, {a}.size(0))); {a}.count_nonzero({d}); {a}.matrix_power(1)
"""

VALUES = """
{a} + {b}; {a} - {b}; {a} * {b}; {a} + {k}; {a} * {k}; -{a}; {a}.abs(); {a}.sign(); {a}.square()
torch.maximum({a}, {b}); torch.minimum({a}, {b}); {a}.clamp(0, 3); {a}.clamp(min={b}); {a}.sum({d})
{a}.sum(({d}, {d})); {a}.sum({d}, keepdim=True); {a}.amax({d}); {a}.amin(({d}, {d}))
{a}.cumsum({d}); {a}.prod({d}) % 7; {a} @ {b}; {a} @ {b}.T; {a}.T @ {a}
torch.einsum('ij,kj->ik', {a}, {b})
torch.einsum('...i,i->...', {a}, {b}); torch.einsum('ii->i', {a}); {a} > {b}
{a} == {b}; {a} <= {k}; {a} % {k}; {a} // {k}; {a} % -{k}; torch.fmod({a}, {k})
torch.div({a}, {k}, rounding_mode='trunc'); {a} & {b}; {a} ^ {b}; ~{a}; {a} << {k}; {a} >> {k}
{a}.to(torch.{dt}); {a}.trace()
{a}.floor(); {a}.relu(); {a}.ne(0).sum({d}); {a}.logical_not(); {a}.addcmul({b}, {b}, value={k})
F.max_pool1d({a}, {k}); F.max_pool2d({a}, {k}, 1); F.avg_pool1d({a}.double(), {k})
F.interpolate({a}.float(), scale_factor=2); torch.lerp({a}, {b}, 2); torch.copysign({a}, {b})
torch.cdist({a}.double(), {b}.double(), p=1.); {a}.float().softmax({d}); {a}.float().tanh()
{a}.float().mean({d}); {a}.double().var({d}); F.layer_norm({a}.double(), {a}.shape[-1:])
{a}.float().logsumexp({d}); F.gelu({a}.double()); {a}.double().cumprod({d}).tanh()
"""

WRITES = """
{a}.add_({b}); {a}.mul_({k}); {a}.sub_({b}, alpha={k}); {a}.zero_(); {a}.fill_({k}); {a}.copy_({b})
{a}[{s}] = {k}; {a}[{s}] = {b}; {a}[{s}] += {k}; {a}[..., {s}] *= 2; {a}[:, {s}] -= {k}
{a}[{m}] = {k}; {a}[{m}] += 1; {a}[{p}] = {k}; {a}[{p}] += {k}; (+{a}).index_add_(0, {q}, {b})
{a}.scatter_(0, places({k}, {b}.shape, {a}.size(0)), {k}); {a}.masked_fill_({m}, {k})
{a}.clamp_(0, 4); {a}.neg_(); {a}.t_(); {a}.transpose_({d}, {d}); {a}.squeeze_()
{a}.unsqueeze_({d})
torch.add({a}, {b}, out={b}); torch.mul({a}, {k}, out={a}); {a}.T[0] = {k}
{a}.flatten()[{s}] = {k}; {a}.view(-1)[{s}] += {k}; {a}.diagonal().add_({k}); {a}.data[{s}] = {k}
{a}.detach().add_({k})
{a}.cumsum_({d}); {a}.tril_({o}); {a}[:] = {a}.flip(0); {a}.remainder_(5); {a}.addcmul_({b}, {b})
{a}.swapaxes({d}, {d})[0] = {k}; {a}.data = {b}.clone(); torch.neg({a}, out={a})
torch.cat(({a}, {a}), out=torch.empty(0, dtype={a}.dtype)); {a}.expand(1, *{a}.shape).add_({k})
for row in {a}: row.add_({k})
for i, row in enumerate({a}): row[{s}] = i
for i in range(len({a})): {a}[i] += {a}[i - 1]
for i in range(3): {a}[i:] += i
for part in {a}.unbind({d}): part.add_({k})
for part in {a}.split(2): part.mul_(2)
"""


def templates(table: str) -> list[str]:
    """The templates of a table: several in a line, where they are no loops."""
    lines = table.strip().splitlines()
    return [
        each.strip()
        for line in lines
        for each in ([line] if line.startswith("for") else line.split(";"))
    ]
