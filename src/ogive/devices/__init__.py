"""The machines that kernels run on: protocol, memory, and a folder for each kind of device."""
