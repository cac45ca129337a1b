"""The endpoint of each path, and what endpoints share: the store, the catalogue, the credentials."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
from pathlib import Path

from . import deletion, finalize, gighive
from .access import Access
from .catalogue import Catalogue
from .endpoints import AnyEndpoint, Endpoint, MissingEndpoint, Receiver
from .messages import Request
from .tus import TusEndpoint, TusSettings
from .tus_store import TusStore, Upload

GIGHIVE_TUS = "/files/"
PLAIN_TUS = "/tus/"

_TUS_KINDS = {"POST": "create", "HEAD": "head", "PATCH": "patch", "DELETE": "terminate", "OPTIONS": "options"}
_PAGE_KINDS = {gighive.PATH: "multipart", finalize.PATH: "finalize", deletion.PATH: "delete"}


class Site:
    """The parameters are HiveStub's; `scheme` is what Location begins with."""

    def __init__(
        self,
        access: Access,
        store: str | None,
        tus: bool,
        tus_settings: TusSettings,
        finalize_delay_seconds: float,
        scheme: str,
        stopping: threading.Event,
    ):
        self._temporary = None if store else f"{tempfile.gettempdir()}/hivestub-tus-{secrets.token_hex(8)}"
        receiver = Receiver(store)
        state = Path(self._temporary or f"{store}/.hivestub")
        if store:
            state.mkdir(exist_ok=True)
        self.catalogue = Catalogue(state / "catalogue.json" if store else None)
        self._tus: dict[str, TusEndpoint] = {}
        for base, its_access in ((GIGHIVE_TUS, access), (PLAIN_TUS, None)):
            uploads = TusStore(state / base.strip("/"), base)
            self._tus[base] = TusEndpoint(uploads, tus_settings, its_access, scheme, stopping)
        target = Path(store) if store else None
        self._pages: dict[str, Endpoint] = {
            gighive.PATH: gighive.UploadEndpoint(self.catalogue, access, receiver),
            finalize.PATH: finalize.FinalizeEndpoint(
                self._tus[GIGHIVE_TUS].store, self.catalogue, access, target, finalize_delay_seconds, stopping),
            deletion.PATH: deletion.DeletionEndpoint(self.catalogue, access, target),
        }
        self._asset = gighive.AssetEndpoint(self.catalogue, access)
        self._media = gighive.MediaEndpoint(self.catalogue, access)
        self._any = AnyEndpoint(receiver)
        self._lacks = {} if tus else {GIGHIVE_TUS: MissingEndpoint()}

    @property
    def uploads(self) -> list[Upload]:
        return [upload for endpoint in self._tus.values() for upload in endpoint.store.uploads]

    def kind_of(self, request: Request) -> str:
        """What faults call it: see faults.SCOPES."""
        if _tus_base(request) is not None:
            if request.header("Upload-Concat").startswith("final;"):
                return "join"
            return _TUS_KINDS.get(request.effective_method, "other")
        if gighive.ASSET.fullmatch(request.path):
            return "asset"
        if gighive.MEDIA.fullmatch(request.path):
            return "media"
        return _PAGE_KINDS.get(request.path, "other")

    def endpoint_for(self, request: Request) -> Endpoint:
        base = _tus_base(request)
        if base is not None:
            return self._lacks.get(base) or self._tus[base]
        if gighive.ASSET.fullmatch(request.path):
            return self._asset
        if gighive.MEDIA.fullmatch(request.path):
            return self._media
        return self._pages.get(request.path, self._any)

    def close(self) -> None:
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)


def _tus_base(request: Request) -> str | None:
    path = request.path + "/"
    return next((base for base in (GIGHIVE_TUS, PLAIN_TUS) if path.startswith(base)), None)
