"""Repeat the paper's experiments and the measurements of docs/results: `make reproduce`."""
