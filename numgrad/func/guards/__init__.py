"""Guards of captured functions: static arguments, random draws, devices."""
