"""One small process per pod that holds what must outlive the agent: pipes, terminals, logs and exit codes.

Standard library only, and started with `python -I -S`: nothing that is installed beside Setpoint can break it or slow it. The
agent talks to it over a unix socket in the pod's directory, one JSON object per line; file descriptors ride along (SCM_RIGHTS),
so that `exec` and `attach` never pass their bytes through here.

Promises: an exit is on disk before it is told; a container's process dies with the supervisor (parent-death signal); a process
that escapes its group is re-parented here and ends with the pod at the latest.
"""
