"""Who may talk to GigHive's endpoints: Basic credentials, or a guest's upload token."""

from __future__ import annotations

import base64
import hmac

from .messages import Request


class Access:
    """user=None: no credentials are asked for."""

    def __init__(self, user: str | None, password: str, upload_token: str | None):
        self._user, self._password, self._upload_token = user, password, upload_token

    def allows(self, request: Request) -> bool:
        if self._user is None or self.is_guest(request):
            return True
        return _credentials(request) == f"{self._user}:{self._password}".encode()

    def claims_to_be_guest(self, request: Request) -> bool:
        """Whether it names a token, right or wrong: tus takes it then, and finalize alone looks at it."""
        return self._upload_token is not None and bool(request.header("X-Upload-Token"))

    def is_guest(self, request: Request) -> bool:
        token = request.header("X-Upload-Token").encode("latin-1")
        return self._upload_token is not None and hmac.compare_digest(token, self._upload_token.encode())


def _credentials(request: Request) -> bytes:
    scheme, _, encoded = request.header("Authorization").partition(" ")
    if scheme.lower() != "basic":
        return b""
    try:
        return base64.b64decode(encoded.strip(), validate=True)
    except ValueError:
        return b""
