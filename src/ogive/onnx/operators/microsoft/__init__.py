"""Operators of com.microsoft, which exporters and ONNX Runtime's optimizers write.

contrib_layers           parts of layers
contrib_attention        attention, with its projections or by heads
contrib_group_attention  several heads of queries for one of keys and values
contrib_quantization     layers on integers
"""
