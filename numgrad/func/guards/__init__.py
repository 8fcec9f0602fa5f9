"""Guards of captured functions: static arguments, random draws, devices.

The guards on what a function closes over are made in `numgrad.engine.capture.capture`.
"""
