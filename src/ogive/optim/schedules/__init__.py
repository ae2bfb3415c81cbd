"""Learning rates as functions of the number of steps; `lr_scheduler.py` has all their names."""
