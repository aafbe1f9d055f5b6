"""``python -m l2t`` is the command `l2t`."""

from l2t.interfaces.cli import main

if __name__ == "__main__":
    main()
