"""Training over ranks: how batches, parameters, layers and state are divided among them."""
