"""The `l2t` command, one file per group."""
