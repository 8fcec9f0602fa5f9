"""SciPy's interpolators, made of operations that have derivatives: to values, to coordinates, and
to the points where they are asked."""
