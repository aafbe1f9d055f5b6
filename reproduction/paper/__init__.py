"""The paper's experiments, measured again: every table and figure, and what it leaves open."""
