"""Losses between what a network says and what is right."""
