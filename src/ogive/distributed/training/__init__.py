"""Training over ranks: who has which part of batches, parameters, layers and state."""
