"""Events, which two groups serve."""
