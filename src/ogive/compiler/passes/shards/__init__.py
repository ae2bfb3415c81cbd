"""Values over several devices become values of each device, and copies between them."""
