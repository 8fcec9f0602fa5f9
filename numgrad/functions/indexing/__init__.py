"""Reading and writing elements."""
