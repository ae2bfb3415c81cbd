"""A tensor is a view of a storage: views, strides, and writing through them."""
