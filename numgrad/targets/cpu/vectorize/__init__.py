"""LLVM code of elementwise kernels that is written for whole vectors."""
