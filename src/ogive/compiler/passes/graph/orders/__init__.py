"""Sorting: lines are ordered by networks of compare-exchanges, or digit by digit."""
