"""tuspyserver, which others wrote, as an application for uvicorn; it keeps its files in $INTEROP_TUS."""

import json
import os
from pathlib import Path

from fastapi import FastAPI
from tuspyserver import create_tus_router

STORE = Path(os.environ["INTEROP_TUS"])


def repair():
    """What a PATCH had brought when the server was killed is in the file, but not counted in the upload's offset, and
    the server appends what comes next. So the file is cut to the offset that the client will be told."""
    for info in STORE.glob("*.info"):
        data, offset = info.with_suffix(""), json.loads(info.read_text())["offset"]
        if data.exists() and data.stat().st_size > offset:
            os.truncate(data, offset)


repair()
app = FastAPI()
app.include_router(create_tus_router(prefix="files", files_dir=str(STORE)))
