"""Which values are kept in memory, and which are computed where they are used."""
