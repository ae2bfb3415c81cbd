"""What kernels run on: targets, memory, and LLVM as the assembler of text into object code."""
