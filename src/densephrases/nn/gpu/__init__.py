"""Indexing on a GPU: packed windows, Triton kernels, product quantisation."""
