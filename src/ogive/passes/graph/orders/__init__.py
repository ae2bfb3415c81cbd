"""Orders: lines are sorted by networks of exchanges, or digit by digit."""
