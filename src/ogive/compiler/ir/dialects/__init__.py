"""Dialects: the ops that each stage's graphs may contain, and the verifier that checks them."""
