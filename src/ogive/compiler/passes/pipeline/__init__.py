"""The pipeline as data: tables of passes, and the runner that times, checks and records them."""
