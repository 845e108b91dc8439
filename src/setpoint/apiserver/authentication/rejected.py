"""What an authenticator says of a credential that it knows and does not accept."""

from __future__ import annotations


class Rejected(Exception):
    """The message tells why, and never holds the credential. Clients see it in TokenReviews only."""
