"""The process around a computation: Ctrl-C, forks, the garbage collector, the end of the
interpreter.
"""
