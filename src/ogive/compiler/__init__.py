"""The compiler: from a graph of nodes to native code, and what runs that. It knows no tensors."""
