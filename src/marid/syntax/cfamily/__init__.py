"""Read and edit C and C++."""
