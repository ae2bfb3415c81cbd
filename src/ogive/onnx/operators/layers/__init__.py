"""Operators that are layers of networks.

convolution_and_pooling  convolutions and pooling
layer_functions          normalization, losses
recurrent_steps          RNN, GRU and LSTM
sequence_attention       attention, and states carried along a sequence
quantization             to integers and back, and layers on integers
"""
