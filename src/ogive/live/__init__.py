"""The graphs that are alive in this process: tensors and their nodes, versions, history."""
