"""NVIDIA GPUs: the compiler's kernels as PTX, and the driver's own library to run them."""
