"""Special functions that statistics and information theory need."""
