"""The commands of `ogive` on models in files.

arguments    the commands' arguments
given_inputs files and random numbers as inputs
progress     a line while kernels are compiled
peer         the same model in ONNX Runtime, where that is installed
run          `ogive run`: a model's description and its results
bench        `ogive bench`: the speed of a model
export       `ogive export`: object files for C programs
compare      `ogive compare`: every value compared with that of ONNX Runtime
"""
