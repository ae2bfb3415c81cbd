"""Shared by all devices under LLVM: kernels as LLVM IR, elementary functions, the assembler."""
