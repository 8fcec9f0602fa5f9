"""Guards of captured functions: static arguments, names, random draws, devices.

The guards on tensors and arrays that a function closes over are made in
`numgrad.engine.capture.capture`.
"""
