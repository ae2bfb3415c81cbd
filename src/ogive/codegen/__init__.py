"""Stages 6 to 9: place every axis, order the instructions, write LLVM IR."""
