"""The paper's experiments: every table and figure, and questions that the paper leaves open."""
