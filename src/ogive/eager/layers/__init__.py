"""Forms of the functions of layers and losses."""
