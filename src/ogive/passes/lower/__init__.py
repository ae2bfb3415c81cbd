"""Placed loops become instructions in order: how lanes lie in memory, what each loop holds."""
