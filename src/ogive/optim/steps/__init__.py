"""Parts of all optimizers' steps: groups, state and its parts, counts, repetition."""
