"""Captured functions: traced once per kind of arguments, replayed natively from then on.

trees         arguments and results as trees; what kind of call this is
watch         what a function reads and changes while it is traced
placeholder   tensors that stand for arguments, and for what is gone
codes         which names the code of a function uses
reads         what a function reads while it is traced, besides its arguments
places        what was there: places, contents of containers, elements of arrays
guards        whether all of that is as it was
unwatched     what nobody can watch, and how that is said
trace         a function and a call → nodes to compute, tensors to update
prepare       those → a compiled graph and what each of its slots is
whereabouts   where the tensors lie that the function found
wiring        which argument words of the native plan each part of a call fills in
instance      a native plan with memory of its own, and the memory of its results
entry         the steady call: fill in addresses, run, wrap the results
explain       why a function was traced again
function      `ogive.jit` itself
"""

from ogive.jit.function import CacheInfo, Jitted, jit

__all__ = ["CacheInfo", "Jitted", "jit"]
