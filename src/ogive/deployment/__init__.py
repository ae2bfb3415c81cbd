"""Functions written as object files, which programs call that have no Python.

    export_function.py      `ogive.export`, and the files that it writes
    described_function.py   a function traced and compiled: arguments, constants, results
    write_steps.py          a described function becomes a program
    constant_steps.py       steps that read constants alone are run once, and not exported
    c_header.py             the function as C sees it
"""

from ogive.deployment.export_function import Exported, export

__all__ = ["Exported", "export"]
