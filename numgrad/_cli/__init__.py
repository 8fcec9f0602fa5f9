"""``python -m numgrad``: a fit of real data, and the facts a bug report needs."""
