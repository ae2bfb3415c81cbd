"""Code that all devices under LLVM share: kernels as IR, elementary functions, the assembler."""
