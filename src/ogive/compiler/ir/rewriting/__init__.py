"""Rewriting: rules as data, the driver that applies them, and the rules of exact algebra."""
