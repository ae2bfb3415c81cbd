"""The intermediate representation: dtypes, ops, interned nodes, rules and rewriting."""

# Nodes have operators and these need rules about nodes: whichever is asked for, nodes come first.
from ogive.ir import node as _node  # noqa: F401
