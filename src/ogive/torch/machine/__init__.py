"""The machine and what is set for all: devices, threads, default dtypes, seeds, versions."""
