"""Who owns which field: `metadata.managedFields` on every write, and server-side apply.

`update` computes the entries of a create, put, patch or status write; `apply` merges an applied configuration and finds
conflicts; `keep_times` recognises a write that would change nothing but the times of entries. Objects are plain dicts in the form
that is stored; nothing given is changed but `new["metadata"]["managedFields"]`. Field sets may be shared between objects: never
change one.

Source: apimachinery `util/managedfields` and structured-merge-diff (KEP 555), whose rules this follows to the letter.
"""

from setpoint.api.machinery.fields.applying import apply
from setpoint.api.machinery.fields.managed import keep_times
from setpoint.api.machinery.fields.tracking import Misfit, Write, update
from setpoint.api.machinery.fields.typed import fits

__all__ = ["Misfit", "Write", "apply", "fits", "keep_times", "update"]
