"""Recording: an operator is applied to values, now or later, and remembered for its derivative."""
