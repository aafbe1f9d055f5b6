"""Plain implementations of the same computations, and lower bounds of their time."""
