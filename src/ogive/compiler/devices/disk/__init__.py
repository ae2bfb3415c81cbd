"""`DISK`: files as read-only memory."""
