"""Rolling: instructions that repeat in a program become a loop."""
