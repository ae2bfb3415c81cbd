"""`torch.fx`: programs traced into graphs of calls, which can be changed and run again."""
