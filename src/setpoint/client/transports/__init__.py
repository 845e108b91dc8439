"""Ways to an API server: `http` (sockets, imported only when used) and `in_process` (the pipeline of this process)."""
