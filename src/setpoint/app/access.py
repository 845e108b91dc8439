"""How clients prove who they are, from the options: the authenticators in Kubernetes' order."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.apiserver.authentication import Anonymous, Authentication, TokenAuthenticator
from setpoint.apiserver.authentication.bootstrap_tokens import BootstrapTokens
from setpoint.apiserver.authentication.front_proxy import FrontProxy
from setpoint.apiserver.authentication.service_accounts import ISSUER, ServiceAccountTokens
from setpoint.apiserver.authentication.static_tokens import StaticTokens
from setpoint.app.certificates import PROXY_NAME
from setpoint.app.options import Options, StartError
from setpoint.kit.clock import Clock
from setpoint.registry.admission.reader import Getter

if TYPE_CHECKING:
    from setpoint.apiserver.authentication.configuration import Configuration

#: what is to be awaited when no more requests come
Ends = list[Callable[[], Awaitable[None]]]


def authentication(options: Options, tokens: ServiceAccountTokens, objects: Getter, clock: Clock) -> tuple[Authentication, Ends]:
    """Everything that proves an identity, and what ends its connections; raises StartError for files that cannot be used."""
    ends: Ends = []
    known: list[TokenAuthenticator] = [tokens, BootstrapTokens(objects, clock)]
    if tokens_file := options.token_auth_file:
        known.insert(0, _static(tokens_file))
    anonymous = Anonymous(enabled=options.access.anonymous)
    configuration = _configuration(options)
    if configuration is not None:
        from setpoint.apiserver.authentication.oidc.authenticator import IssuerTokens

        known += [IssuerTokens(issuer, clock) for issuer in configuration.issuers]
        anonymous = configuration.anonymous or anonymous
    if file := options.access.token_webhook:
        from setpoint.apiserver.authentication.webhook import WebhookTokens
        from setpoint.app.token_webhook import TokenWebhook

        webhook = TokenWebhook(Path(file))
        ends.append(webhook.close)
        known.append(WebhookTokens(webhook.post, clock, own=ISSUER))
    proxy = FrontProxy((PROXY_NAME,))
    return Authentication(known, anonymous=anonymous, front_proxy=proxy, now=clock.now), ends


def _configuration(options: Options) -> Configuration | None:
    access = options.access
    if not access.authentication_config and not access.oidc.issuer_url:
        return None
    from setpoint.apiserver.authentication import configuration

    file = access.authentication_config
    try:
        if file:
            if access.oidc.issuer_url:
                raise ValueError("--authentication-config and --oidc-* flags cannot both be given")
            return configuration.read(Path(file), (ISSUER,))
        return configuration.of_flags(access.oidc, (ISSUER,))
    except OSError as error:
        raise StartError(f"authentication configuration {file}: {os.strerror(error.errno or 0)}") from error
    except ValueError as error:
        raise StartError(f"authentication configuration {file}: {error}".replace(" :", ":")) from error


def _static(file: Path) -> StaticTokens:
    try:
        return StaticTokens.read(file)
    except OSError as error:
        raise StartError(f"token file {file}: {os.strerror(error.errno or 0)}") from error
    except ValueError as error:
        raise StartError(f"token file {file}: {error}") from error
