"""The generic store: creating, changing, deleting and reading objects of any kind by its Strategy.

`store` holds what all verbs share; `create`, `update`, `delete`, `read` and `watching` are one verb each.
"""
