"""What the benchmarks share: clusters of their own, load, tables."""
