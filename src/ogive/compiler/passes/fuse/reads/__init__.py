"""How kernels under construction read values: by which of their loops, at which places."""
