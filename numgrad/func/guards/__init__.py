"""What a captured function may not depend on unseen: static arguments, random draws, devices."""
