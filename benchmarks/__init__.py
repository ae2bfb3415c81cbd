"""Ogive measured against its peers: `python -m benchmarks --help`."""
