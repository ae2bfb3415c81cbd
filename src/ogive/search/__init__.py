"""Search for faster kernels by measuring them: a beam over placements, timed in a worker process.
"""
