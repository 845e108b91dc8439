"""The audit log: who asked for what, when, and what was answered, as lines of `audit.k8s.io/v1` Events.

`policy` says what is recorded and how much of it, `recorder` makes an `event` of each stage of a request, `log_process` sends
them to a process of its own; there `lines` makes text of them, and `log_writer` puts it into a `log_file`. Nothing of this is
imported where audit is off.
"""
