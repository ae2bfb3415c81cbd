"""Captured functions: traced once per kind of arguments, replayed natively from then on.

function      `ogive.jit` itself
trees         arguments and results as trees; what kind of call this is
donation      which arguments results may take over
capturing     traced, or recalled
kept_traces   traces that outlive the process, of functions that somebody vouches for
tracing/      a function and a call → a compiled graph
  watch             what a function does with tensors while it is traced
  watched_slots     how that is seen
  placeholders      tensors that stand for arguments, and for what is gone
  trace             runs the function → `traced_function`: nodes to compute, tensors to update
  prepare           those → a compiled graph and what each of its slots is
guards/       what a function read besides, and whether that is as it was
  codes             which names the code of a function uses
  reads, reachable  what it reads while it is traced
  places            what was there: places, contents of containers, elements of arrays
  unwatched         what nobody can watch, and how that is said
  guard_set         whether all of that is as it was
calls/        the steady call
  whereabouts       where the captured tensors lie
  wiring            which argument words of the native plan each part of a call fills in
  overwriting       what a call changes, and who else has to do with that
  instance          an execution with memory of its own
  result_memory     memory of results, used again once nobody has it
  results           what a call gives
  entry             fill in addresses, run, wrap the results
explain       why a function was traced again
"""

from ogive.jit.jitted_function import CacheInfo, Jitted, jit

__all__ = ["CacheInfo", "Jitted", "jit"]
