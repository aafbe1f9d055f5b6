"""The same computations written plainly, and the part of them that nobody can leave out."""
