"""Captured functions, scripts, and operators that programs define."""
