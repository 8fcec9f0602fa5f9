"""From a program to launches: which kernel, over what, with which arguments."""
