"""From the text of a kernel to code for a GPU."""
