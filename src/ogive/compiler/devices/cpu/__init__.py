"""The CPU: its memory, its speeds, and the native code that runs plans on it."""
