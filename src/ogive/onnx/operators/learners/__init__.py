"""Operators of ai.onnx.ml, which scikit-learn's models are written with.

features         features of rows: scaled, encoded, filled in, counted
linear_models    linear models, and what classifiers make of scores
tree_ensembles   forests and boosted trees
vector_machines  support vector machines
"""
