"""The ground of all functions: operands, results, axes, dtypes, and facts about arrays."""
