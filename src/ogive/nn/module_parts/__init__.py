"""Parts of `Module`: its tree, hooks, state and errors, and further methods of PyTorch's."""
