"""What has to be computed, differentiated and kept: repetitions, activity, overwriting, a cut."""
