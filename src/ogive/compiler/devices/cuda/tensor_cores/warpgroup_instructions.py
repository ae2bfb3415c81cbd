"""PTX of sm_90a: products of warpgroups, barriers in shared memory, copies of tensor tiles.

LLVM has intrinsics for most of these, but ends the process if it cannot select one, so they are
inline assembly here. The operands of `wgmma` are tiles in shared memory, given by *descriptors*:
lines of 128 bytes whose pieces of 16 bytes are swizzled as in `SharedTile`.

    k-major     lines along k; the next 32 bytes along k are 2 units of 16 bytes further
    mn-major    lines of 64 elements along m or n, one for each k; 16 of them are 128 units
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.devices.cuda.tensor_cores.kernel_text import Index, KernelText
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType

LINE = 128
"""The bytes of a line, within which pieces are swizzled."""
BOX = 64
"""The two-byte elements in a line; also the number of lines along k of a stage."""

_TYPES = {
    dtypes.bfloat16: ("f32", "bf16"), dtypes.float16: ("f32", "f16"),
    dtypes.float32: ("f32", "tf32"), dtypes.int8: ("s32", "s8"), dtypes.uint8: ("s32", "u8"),
    dtypes.float8_e4m3: ("f32", "e4m3"), dtypes.float8_e5m2: ("f32", "e5m2"),
}  # fmt: skip
OPERANDS = tuple(_TYPES)
"""The element types that `wgmma` multiplies; f32 as tf32."""

_SWIZZLED_128 = 1 << 62
_GROUP_OF_LINES = 8 * LINE  # eight lines repeat the swizzle


def next_stage(text: KernelText, stage: str, parity: str, stages: int) -> list[str]:
    """The stage of the ring after `stage`, and the parity of its phase."""
    wraps = text.equal(stage, stages - 1)
    following = text.choose(wraps, 0, text.add(stage, 1))
    return [str(following), str(text.choose(wraps, text.xor(parity, 1), parity))]


def descriptor_bits(k_major: bool, box_bytes: int) -> int:
    """A descriptor without the address: the distances of groups of eight lines and of boxes.

    >>> hex(descriptor_bits(True, 0))
    '0x4000004000010000'
    """
    box = 1 if k_major else box_bytes >> 4
    return _SWIZZLED_128 | (_GROUP_OF_LINES >> 4) << 32 | box << 16


def descriptor(text: KernelText, address: Index, bits: int) -> str:
    """The descriptor of a tile at an address of shared memory.

    In a cluster the upper bits of an address are the number of the block. They are cleared, since
    they would overlap other fields.
    """
    units = text.wide(text.remainder(text.divide(address, 16), 1 << 14))
    return text.instruction(f"or i64 {units}, {bits}")


def multiply_stage(
    text: KernelText, operand: DType, columns: int, left: str, right: str,
    k_major: tuple[bool, bool], sums: Sequence[str],
) -> list[str]:  # fmt: skip
    """Begin to add the products of a stage, 128 bytes along k, to the sums of a warpgroup.

    The operands are descriptors. The sums must not be accessed before `finish_products`.
    """
    total, name = _TYPES[operand]
    kind = "i32" if total == "s32" else "float"
    flags = "" if total == "s32" else ", 1, 1"
    if operand.itemsize == 2:
        flags += "".join([f", {int(not major)}" for major in k_major])
    instruction = (
        f"wgmma.mma_async.sync.aligned.m64n{columns}k{32 // operand.itemsize}"
        f".{total}.{name}.{name}"
    )
    registers = ",".join([f"${each}" for each in range(len(sums))])
    a, b = f"${len(sums)}", f"${len(sums) + 1}"
    lines = [
        "{ .reg .pred keep; .reg .b64 a, b; setp.eq.u32 keep, 0, 0; wgmma.fence.sync.aligned;"
    ]
    for step in range(4):
        ahead = [step * (2 if major else 128) for major in k_major]
        lines.append(
            f"add.s64 a, {a}, {ahead[0]}; add.s64 b, {b}, {ahead[1]}; "
            f"{instruction} {{{registers}}}, a, b, keep{flags};"
        )
    lines.append("wgmma.commit_group.sync.aligned; }")
    operands = [("i64", left), ("i64", right), *[(kind, each) for each in sums]]
    return text.assembly(" ".join(lines), [kind] * len(sums), operands, tied=len(sums))


def wait_products(text: KernelText, pending: int) -> None:
    """Wait until at most `pending` stages are being multiplied."""
    text.assembly(f"wgmma.wait_group.sync.aligned {pending};", [], [])


def finish_products(text: KernelText, kind: str, sums: Sequence[str]) -> list[str]:
    """Wait for all products, after which the sums may be accessed."""
    operands = [(kind, each) for each in sums]
    return text.assembly(
        "wgmma.wait_group.sync.aligned 0;", [kind] * len(sums), operands, tied=len(sums)
    )


# Barriers


def begin_barrier(text: KernelText, address: Index, arrivals: int) -> None:
    text.assembly(f"mbarrier.init.shared::cta.b64 [$0], {arrivals};", [], [("i32", str(address))])


def publish_barriers(text: KernelText) -> None:
    """Make new barriers visible to the copying engine."""
    text.assembly("fence.mbarrier_init.release.cluster;", [], [])


def expect_bytes(text: KernelText, address: Index, count: Index) -> None:
    """Arrive at a barrier that opens when `count` bytes have arrived as well."""
    operands = [("i32", str(address)), ("i32", str(count))]
    text.assembly("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", [], operands)


def arrive_if(text: KernelText, condition: str, address: Index) -> None:
    """Arrive at a barrier if the condition holds."""
    text.assembly(
        "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];",
        [],
        [("i32", str(address)), ("i1", condition)],
    )


def wait_barrier(text: KernelText, address: Index, parity: Index) -> None:
    """Wait until the phase with this parity is over."""
    text.assembly(
        "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; "
        "@p bra done; bra again; done: }",
        [],
        [("i32", str(address)), ("i32", str(parity))],
    )


def warp_barrier(text: KernelText) -> None:
    """Make the lanes of a warp wait for each other and see each other's writes."""
    text.assembly("bar.warp.sync 0xffffffff;", [], [])


def warpgroup_barrier(text: KernelText, number: Index, threads: int) -> None:
    """Make `threads` threads of one or more warpgroups wait for each other."""
    text.assembly(f"bar.sync $0, {threads};", [], [("i32", str(number))])


def set_registers(text: KernelText, count: int, more: bool) -> None:
    """Release registers of this warpgroup, or take registers that others released."""
    way = "inc" if more else "dec"
    text.assembly(f"setmaxnreg.{way}.sync.aligned.u32 {count};", [], [])


# Clusters of blocks


def cluster_barrier(text: KernelText) -> None:
    """Make all threads of a cluster wait for each other and see each other's writes.

    No thread may have ended: the barrier would count it as waiting.
    """
    text.assembly("barrier.cluster.arrive; barrier.cluster.wait;", [], [])


def address_in_block(text: KernelText, address: Index, block: int) -> str:
    """The address of the same place in the shared memory of another block of the cluster."""
    operands = [("i32", str(address)), ("i32", str(block))]
    return text.assembly("mapa.shared::cluster.u32 $0, $1, $2;", ["i32"], operands)[0]


def load_four(text: KernelText, kind: str, address: str, behind: int) -> list[str]:
    """Load four words of the shared memory of a block of the cluster."""
    return text.assembly(
        f"ld.shared::cluster.v4.b32 {{$0,$1,$2,$3}}, [$4+{behind}];",
        [kind] * 4,
        [("i32", address)],
    )


# Copies of tiles


def prefetch_map(text: KernelText, tensor: str) -> None:
    """Prefetch the map of a tensor for its first copy."""
    text.assembly("prefetch.tensormap [$0];", [], [("ptr", tensor)])


def copy_tile_in(
    text: KernelText, tensor: str, coordinates: Sequence[Index], to: Index, barrier: Index
) -> None:
    """Begin to copy a box of a tensor to shared memory; its bytes arrive at a barrier."""
    count = len(coordinates)
    places = ",".join([f"${3 + each}" for each in range(count)])
    text.assembly(
        f"cp.async.bulk.tensor.{count}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        f"[$0], [$1, {{{places}}}], [$2];",
        [],
        [("i32", str(to)), ("ptr", tensor), ("i32", str(barrier)),
         *[("i32", str(each)) for each in coordinates]],
    )  # fmt: skip


def copy_tile_out(
    text: KernelText, tensor: str, coordinates: Sequence[Index], source: Index
) -> None:
    """Begin to copy a box from shared memory to a tensor; elements outside of it are dropped."""
    count = len(coordinates)
    places = ",".join([f"${2 + each}" for each in range(count)])
    text.assembly(
        f"cp.async.bulk.tensor.{count}d.global.shared::cta.tile.bulk_group "
        f"[$1, {{{places}}}], [$0];",
        [],
        [("i32", str(source)), ("ptr", tensor), *[("i32", str(each)) for each in coordinates]],
    )


def commit_copies_out(text: KernelText) -> None:
    text.assembly("cp.async.bulk.commit_group;", [], [])


def wait_copies_out(text: KernelText) -> None:
    """Wait until the copies out have read shared memory."""
    text.assembly("cp.async.bulk.wait_group.read 0;", [], [])


def show_writes(text: KernelText) -> None:
    """Make this thread's writes to shared memory visible to the copying engine."""
    text.assembly("fence.proxy.async.shared::cta;", [], [])


def store_matrices(text: KernelText, address: Index, words: Sequence[str]) -> None:
    """Store four 8 × 8 matrices of two-byte elements to shared memory: reverse `load_matrices`."""
    text.assembly(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1,$2,$3,$4};",
        [],
        [("i32", str(address)), *[("i32", word) for word in words]],
    )
