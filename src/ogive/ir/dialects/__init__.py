"""What each stage's graphs may contain, and the verifier that checks it."""
