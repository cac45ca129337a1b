"""Responses of the programs between an uploader and GigHive, as they write them, and the setting that each of them must be told."""

from __future__ import annotations

NGINX_413 = (
    "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n"
    "<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>\r\n"
)
NGINX_502 = NGINX_413.replace("413 Request Entity Too Large", "502 Bad Gateway")
APACHE = (
    '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n<title>{status} {reason}</title>\n</head><body>\n'
    "<h1>{reason}</h1>\n<p>{text}<br />\n</p>\n<hr>\n<address>Apache/2.4.62 (Debian) Server at gighive Port 443</address>\n</body></html>\n"
)
APACHE_413 = APACHE.format(
    status=413, reason="Request Entity Too Large",
    text="The requested resource does not allow request data with POST requests, or the amount of data provided in\n"
    "the request exceeds the capacity limit.",
)
PORTAL = (
    '<html><head><title>Welcome to Cafe Wifi</title></head><body><form method="post" action="/login">'
    '<input name="room"><input type="password" name="code"></form></body></html>'
)


def answer(status: str, page: str = "", *fields: tuple[str, str]) -> bytes:
    """A whole response, after which the connection ends."""
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields)]
    lines += ["Content-Type: text/html", f"Content-Length: {len(page.encode())}", "Connection: close"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + page.encode()


AUTHORED = {
    "nginx, 502": (answer("502 Bad Gateway", NGINX_502), "nginx", "proxy_pass"),
    "a portal, 302": (answer("302 Found", "", ("Location", "http://10.1.1.1/login?id=7")), "login page", "log in"),
}
"""A response, the author's name, and words of the remedy; of all others: LikelySoftwareTests."""
