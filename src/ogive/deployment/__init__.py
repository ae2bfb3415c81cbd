"""Functions written as object files, which programs call that have no Python.

    export_function.py      a captured function becomes a program; its files are written
    constant_steps.py       what follows from constants alone, computed once
    c_header.py             the function as C sees it
"""

from ogive.deployment.export_function import Exported, export

__all__ = ["Exported", "export"]
