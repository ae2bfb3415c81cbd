"""Native code that replays plans: the driver, the thread pool, and the linker of kernels."""
