"""TokenReviews: whose a token is, and for whom it is meant.

Source: Kubernetes `registry/authentication/tokenreview`.
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery.status import bad_request
from setpoint.apiserver import answers
from setpoint.apiserver.authentication import Authentication, bearer_token
from setpoint.apiserver.authentication.rejected import Rejected
from setpoint.apiserver.call import Call
from setpoint.apiserver.handlers.reviews import read_review
from setpoint.apiserver.request import Response


class TokenReviews:
    """Answers with what the server itself would find; `audience` is the server's own."""

    def __init__(self, authentication: Authentication, audience: str) -> None:
        self._authentication = authentication
        self._audience = audience

    async def handle(self, call: Call) -> Response:
        review = read_review(call)
        spec = review.get("spec") or {}
        token = spec.get("token") or ""
        if not token:
            raise bad_request("token is required for TokenReview in authentication")
        status: dict[str, Any] = {"user": {}, **(review.get("status") or {})}
        status.pop("authenticated", None)
        token = bearer_token(f"Bearer {token}")  # it is tried as the header of a request would be
        try:
            audiences = spec.get("audiences") or [self._audience]
            user, meant = await self._authentication.review(token, audiences, self._audience)
            status |= {"authenticated": True, "user": user.as_json(), "audiences": meant}
        except Rejected as reason:
            if text := str(reason):
                status["error"] = text
        review["status"] = status
        return answers.made_answer(call, review, answers.internal_type(call), 201)
