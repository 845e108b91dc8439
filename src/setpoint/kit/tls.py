"""What every TLS port of ours asks for: version 1.2 or newer, and of 1.2 only suites with forward secrecy and
authenticated encryption.

Clients of ours take Python's own defaults (1.2 or newer, no weak suites), since other people's servers may have less.
"""

from __future__ import annotations

import ssl

SUITES = "ECDHE+AESGCM:ECDHE+CHACHA20"


def harden(context: ssl.SSLContext) -> ssl.SSLContext:
    """The same context, made strict."""
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(SUITES)
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    return context
