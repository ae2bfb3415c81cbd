"""The devices that kernels run on: the protocol, memory, and a folder for each kind of device."""
