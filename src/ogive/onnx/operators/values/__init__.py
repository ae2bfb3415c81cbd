"""Operators that compute values.

elementwise      arithmetic, comparisons, logic, elementary functions
reductions       sums and the like over axes, scans, normalization over an axis
matrix_products  products of matrices, determinants
signals          Fourier transforms and windows
draws            random numbers, and dropout
texts            arrays of texts
"""
