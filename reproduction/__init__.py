"""The paper's experiments and the pages of docs/results, measured again: `make reproduce`."""
