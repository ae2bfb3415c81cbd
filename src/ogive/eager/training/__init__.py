"""New tensors, random draws, parameters and optimizer steps."""
