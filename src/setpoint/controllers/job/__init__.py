"""The Job controller: pods that run to their end, counted exactly once each."""
