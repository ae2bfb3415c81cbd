"""Graphs of tensors as models of standard operators.

save             `ogive.onnx.save`
emit             messages of a model that grows node by node
operations       what each op is in standard operators
products         which sums of products are contractions, and which nodes need which others
lengths_of_axes  expressions of dynamic axes as nodes over `Shape`
rewrite_file     a loaded model with other weights: its own file, with those replaced
"""
