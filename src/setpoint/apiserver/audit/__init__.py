"""The audit log: who asked for what, when, and what was answered, as lines of `audit.k8s.io/v1` Events.

`policy` says what is recorded and how much of it, `recorder` makes the events of a request, `log_file` writes them down beside
the event loop. Nothing of this is imported where audit is off.
"""
