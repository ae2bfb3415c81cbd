"""Plans, replayed by native code: the driver, the thread pool, and the linker of kernels."""
