"""Uploads a file with tuspy, as its README does: tuspy_upload.py FILE URL"""

import sys

from tusclient import client

path, url = sys.argv[1:]
client.TusClient(url).uploader(path, chunk_size=5_000_000).upload()
