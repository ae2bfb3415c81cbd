"""What kernels run on: targets, memory, and a folder for each kind of device."""
