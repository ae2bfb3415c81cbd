"""Operators with graphs inside, and what trains.

subgraphs       branches and loops; sequences and optionals
training_steps  gradients, and steps of optimizers (ai.onnx.preview.training)
"""
