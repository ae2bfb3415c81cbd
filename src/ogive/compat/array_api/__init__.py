"""The functions of the array API standard, 2024.12, a module for each of its chapters."""
