"""Entry point of ``python -m numgrad``."""

from numgrad._cli.command import main

if __name__ == "__main__":
    raise SystemExit(main())
