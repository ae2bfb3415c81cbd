"""Which names the code of a function uses: globals, attributes, modules that it imports."""

from __future__ import annotations

import dis
import functools
import sys
import sysconfig
import types

from ogive.named import NamedTuple

_BY_NAME = ("getattr", "hasattr")
"""With these, texts in the code can be names of attributes."""

_OPAQUE = frozenset([*sys.stdlib_module_names, "ogive"])
_INSTALLED = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))


class Names(NamedTuple):
    """The globals, attributes and modules that code names, also in functions inside it."""

    globals: frozenset[str]
    attributes: frozenset[str]
    imported: frozenset[str]


@functools.lru_cache(maxsize=1024)
def names_in(code: types.CodeType) -> Names:
    """The names that code reads."""
    names_of: dict[str, set[str]] = {"GLOBAL": set(), "ATTR": set(), "IMPORT_NAME": set()}
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    for instruction in dis.get_instructions(code):
        name, operation = instruction.argval, instruction.opname
        if not isinstance(name, str) or not operation.startswith(("LOAD", "IMPORT")):
            continue
        if name.startswith("@"):
            continue  # what tools have put there, as pytest does for its assertions
        if "GLOBAL" in operation or operation == "LOAD_NAME":
            names_of["GLOBAL"].add(name)
        elif "ATTR" in operation or "METHOD" in operation or operation == "IMPORT_FROM":
            names_of["ATTR"].add(name)
        elif operation == "IMPORT_NAME":
            names_of["IMPORT_NAME"].add(name)
    if not names_of["GLOBAL"].isdisjoint(_BY_NAME):
        texts = [text for text in code.co_consts if isinstance(text, str)]
        names_of["ATTR"].update([text for text in texts if text.isidentifier()])
    below = [names_in(each) for each in inner]
    return Names(
        frozenset(names_of["GLOBAL"]).union(*[names.globals for names in below]),
        frozenset(names_of["ATTR"]).union(*[names.attributes for names in below]),
        frozenset(names_of["IMPORT_NAME"]).union(*[names.imported for names in below]),
    )


@functools.lru_cache(maxsize=4096)
def is_users(module: str | None) -> bool:
    """Whether what a module defines is the user's: neither Python's, nor of an installed package.

    How a package does its work is its own; it is used as it was when it was installed.
    """
    if module is None or module.partition(".")[0] in _OPAQUE:
        return False
    path = getattr(sys.modules.get(module), "__file__", None) or ""
    return not path.startswith(_INSTALLED)
