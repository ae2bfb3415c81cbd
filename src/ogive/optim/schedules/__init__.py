"""Learning-rate schedules: rates as functions of the number of steps. `lr_scheduler.py` lists them.
"""
