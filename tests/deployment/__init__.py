"""Tests of exported functions. Objects are linked by our own linker: no C compiler is needed."""
