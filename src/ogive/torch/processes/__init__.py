"""Programs of several processes: what they mean in one."""
