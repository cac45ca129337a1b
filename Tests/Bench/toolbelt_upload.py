"""What a Python program does today: a form streamed by requests-toolbelt.

    toolbelt_upload.py FILE URL
"""

import sys

import requests
from requests_toolbelt import MultipartEncoder

path, url = sys.argv[1:]
with open(path, "rb") as file:
    form = MultipartEncoder({"file": ("recording.mp4", file, "video/mp4")})
    response = requests.post(url, data=form, headers={"Content-Type": form.content_type}, timeout=600)
response.raise_for_status()
