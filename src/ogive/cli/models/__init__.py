"""The commands of `ogive` on models in files.

arguments    what the commands take
given_inputs files and random numbers as inputs
progress     a line while kernels are compiled
peer         the same model in ONNX Runtime, where that is installed
run          `ogive run`: what a model is, and what it makes
bench        `ogive bench`: how fast it is
export       `ogive export`: object files for C programs
compare      `ogive compare`: every value beside that of ONNX Runtime
"""
