"""Random programs: what is written at random is differentiated in many ways, and judged."""
