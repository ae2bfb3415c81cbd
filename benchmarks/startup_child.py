"""A new process that times its own beginning: `python -m benchmarks.startup_child LIBRARY ...`.

Arguments are the library, the number of threads, and the program: `tiny` or a number of
transformer blocks. Nothing but the standard library is imported before the clock runs.
"""

import importlib
import json
import os
import sys
from time import perf_counter


def main() -> None:
    """Print the seconds of NumPy's import, the library's, and its first and second result."""
    library_name, threads, program = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    begin = perf_counter()
    importlib.import_module("numpy")
    numpy_done = perf_counter()
    reply: dict[str, object]
    try:
        reply = {"status": "ok", **first_result(library_name, threads, program)}
    except Exception as error:
        from benchmarks.worker import describe

        reply = describe(error)
    print(json.dumps({"numpy": numpy_done - begin, **reply}), file=replies, flush=True)
    # A library that dies in its own exit handlers has still answered.
    os._exit(0)


def first_result(library_name: str, threads: int, program: str) -> dict[str, object]:
    """Import the library, then compute the program twice."""
    from benchmarks.libraries import ENTRIES, open_library

    start = perf_counter()
    module = importlib.import_module(ENTRIES[library_name].imports)
    getattr(module, "Tensor", None)  # a lazy import counts as well
    imported = perf_counter() - start
    from benchmarks.rows import TINY_REALIZED, transformer_row
    from benchmarks.worker import pin

    pin(threads)
    row = TINY_REALIZED if program == "tiny" else transformer_row(int(program))
    arrays = row.inputs()
    library = open_library(library_name, threads)
    captures = library.captures_first and (library_name == "torch.compile" or program != "tiny")
    capture = library.captured if captures else library.eager
    start = perf_counter()
    call = capture(row.function, [library.load(array) for array in arrays])
    result = library.fetch_all(call())
    first = perf_counter() - start
    start = perf_counter()
    call()
    return {
        "import": imported,
        "first": first,
        "second": perf_counter() - start,
        "sum": float(sum(array.sum() for array in result)),
    }


if __name__ == "__main__":
    main()
