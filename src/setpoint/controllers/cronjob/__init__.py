"""The CronJob controller: Jobs at the times of a schedule."""
