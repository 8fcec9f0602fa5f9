"""Which objects are containers of arrays, and how their leaves are found."""
