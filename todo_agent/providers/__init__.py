"""Sources of model answers."""
