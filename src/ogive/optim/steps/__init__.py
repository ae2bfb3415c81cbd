"""Parts of all optimizers: groups of parameters, state, numbers of steps, repeated steps."""
