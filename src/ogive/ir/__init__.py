"""The intermediate representation: dtypes, ops, interned nodes, rules and rewriting."""

# Whatever is asked for, nodes have their shapes, bounds and operators first.
from ogive.ir.node_parts import node_extensions as _node_extensions  # noqa: F401
