"""The DaemonSet controller: one pod on each node that should have one."""
