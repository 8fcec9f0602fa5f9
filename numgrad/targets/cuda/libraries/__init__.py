"""Libraries of CUDA that may be installed: calls of cuBLAS, cuSOLVER and cuFFT."""
