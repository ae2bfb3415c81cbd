"""The live graphs of this process: tensors and their nodes, versions of memory, histories."""
