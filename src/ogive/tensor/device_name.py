"""The name of a device, with what PyTorch's programs ask of one."""

from __future__ import annotations

from ogive.errors import DeviceError, nearest

NAMES = ("CPU",)
ABSENT = ("CUDA", "HIP", "MPS", "XPU")
READ_ONLY = (
    "DISK is read-only: its tensors come from Tensor.from_file, and to('CPU') makes a copy that "
    "can be written to"
)


class Device(str):
    """Where a tensor is: its name, which `type` gives in PyTorch's spelling.

    >>> ogive.ones(2).device.type
    'cpu'
    """

    __slots__ = ()

    def __new__(cls, type: object = "cpu", index: int | None = None) -> Device:
        kind = str(type).upper().partition(":")[0]
        if kind == "DISK":
            raise DeviceError(READ_ONLY)
        if kind not in NAMES:
            absent = f", and there is no {kind} here" if kind in ABSENT else ""
            raise DeviceError(
                f"unknown device {type!r}{nearest(kind, NAMES)}; "
                f"the devices are {', '.join(NAMES)}{absent}"
            )
        return super().__new__(cls, kind)

    @property
    def type(self) -> str:
        """The kind of device: "cpu"."""
        return self.lower()

    @property
    def index(self) -> None:  # type: ignore[override]
        """Which of several it is: there is one."""

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        """Tensors are made there before, inside and after."""
