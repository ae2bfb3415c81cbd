"""Operators on images.

resizing       images of other sizes, samples at places, boxes
image_samples  regions of interest, deformed windows
image_files    images out of the bytes of their files
"""
