"""Who decides what clients may do, from the options: Node and RBAC, or what a configuration file names."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.app.options import Options, StartError
from setpoint.kit.clock import Clock

if TYPE_CHECKING:
    from setpoint.apiserver.authorization.assembly import Chosen
    from setpoint.apiserver.authorization.configuration import Entry

Ends = list[Callable[[], Awaitable[None]]]


def chosen(options: Options, clock: Clock) -> tuple[Sequence[Chosen], Ends]:
    """The authorisers in their order, and what ends their connections; raises StartError for files that cannot be used."""
    from setpoint.apiserver.authorization.assembly import DEFAULT

    if not options.authorization_config:
        return DEFAULT, []
    from setpoint.apiserver.authorization import configuration

    file = Path(options.authorization_config)
    try:
        entries = configuration.read(file)
    except OSError as error:
        raise StartError(f"authorization configuration {file}: {os.strerror(error.errno or 0)}") from error
    except ValueError as error:
        raise StartError(f"authorization configuration {file}: {error}") from error
    ends: Ends = []
    return [_authorizer(entry, clock, ends) for entry in entries], ends


def _authorizer(entry: Entry, clock: Clock, ends: Ends) -> Chosen:
    policy = entry.policy
    if policy is None:
        return entry.type
    from setpoint.apiserver.authorization.webhook import WebhookAuthorizer
    from setpoint.app.token_webhook import TokenWebhook

    connection = TokenWebhook(Path(entry.kubeconfig))
    ends.append(connection.close)

    async def ask(review: bytes) -> bytes:
        status, body = await connection.post(review)
        if not 200 <= status < 300:
            raise ValueError(f"the webhook answered {status}")
        return body

    return WebhookAuthorizer(policy, ask, clock)
