"""Rows put in order: by networks of exchanges, or digit by digit."""
