"""Which tensors want gradients, what they are shown, and how they are known."""
