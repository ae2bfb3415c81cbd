"""The pipeline as data: tables of passes, and the one that runs, times, checks and watches them."""
