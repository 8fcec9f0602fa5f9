"""``ng.jit``: a function is captured once for each kind of arguments, and replayed."""
