"""Products of arrays: ``matmul``, ``einsum``, ``cross``, and those with sparse matrices."""
