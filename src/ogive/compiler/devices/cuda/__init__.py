"""NVIDIA GPUs: kernels as PTX, and the driver's own library to run them."""
