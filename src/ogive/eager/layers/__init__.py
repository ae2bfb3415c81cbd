"""Forms of what layers and losses compute."""
