"""Mutating and validating admission webhooks.

`following` reads the configurations and keeps them as compiled `hooks`; `mutating` and `validating` are the two admission steps,
which `choosing` tells what to ask, with what `subject` makes of the write; `review` is the conversation with one webhook.
Without a webhook that could be about a write, that write costs nothing more.

Source: apiserver `pkg/admission/plugin/webhook`.
"""
