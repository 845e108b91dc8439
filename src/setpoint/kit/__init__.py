"""Clock, task groups, channels, logging, metrics: the ground that everything stands on."""
