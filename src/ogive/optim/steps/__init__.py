"""What the steps of all optimizers are made of: groups, state and its parts, counts, repetition."""
