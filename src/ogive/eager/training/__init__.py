"""New tensors, draws, parameters and steps of optimizers."""
