"""The processor and the process: threads, vector functions, memory, and loading machine code."""
