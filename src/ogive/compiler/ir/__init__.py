"""The intermediate representation: dtypes, ops, interned nodes, rules and rewriting."""

# Loaded first, so that no module meets a node without its shape, bounds and operators.
from ogive.compiler.ir.node_parts import node_extensions as _node_extensions  # noqa: F401
