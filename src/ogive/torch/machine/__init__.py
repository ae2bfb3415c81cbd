"""The machine and global settings: devices, threads, default dtypes, seeds, versions."""
