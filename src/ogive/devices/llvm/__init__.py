"""What every device under LLVM shares: kernels as LLVM IR, elementary functions, the assembler."""
