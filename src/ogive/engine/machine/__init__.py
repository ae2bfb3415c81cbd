"""The machine under a process: its target, its driver, and how fast it is."""
