"""Products of matrices, systems, factorizations and spectra."""
