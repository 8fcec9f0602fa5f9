"""Entry point of ``python -m numgrad.testing.cuda``."""

from .command import main

if __name__ == "__main__":
    raise SystemExit(main())
