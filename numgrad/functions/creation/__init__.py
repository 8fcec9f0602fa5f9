"""Making tensors, and exchanging memory with other libraries."""
