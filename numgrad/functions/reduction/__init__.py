"""Sums, extrema, statistics and histograms."""
