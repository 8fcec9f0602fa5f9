"""``vmap``: functions of one sample, called for all samples at once."""
