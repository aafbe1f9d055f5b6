"""Code shared by tests, benchmarks, the reproduction and the documentation; not part of the package."""
