"""What tests, benchmarks, the reproduction and the documentation share; not part of the package."""
