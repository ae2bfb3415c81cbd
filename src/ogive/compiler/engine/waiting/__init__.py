"""Values and assignments that wait for a run: it computes them besides what was asked for."""
