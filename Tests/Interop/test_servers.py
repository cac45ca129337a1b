"""What the servers answer to curl: when these fail, look at the servers before the uploader."""

import json
import subprocess

import pytest

import recordings
from servers import USERS

MIB = 2**20
SITES = ["apache", "nginx"]
SCHEMES = ["http", "https"]
FORM = {"org_name": "curl", "event_type": "band", "event_date": "2026-11-20", "label": "Take one"}


@pytest.fixture(scope="session")
def curl(servers):
    def post(site, scheme, file, *options, path="/api/uploads.php?ui=json", password=USERS["uploader"],
             file_field="file", form=FORM):
        """The status, the head and the body of the answer."""
        fields = [word for name, value in form.items() for word in ("-F", f"{name}={value}")]
        run = subprocess.run(
            ["curl", "--silent", "--include", "--no-location", "--cacert", servers.ca, "--max-time", "100",
             "--user", f"uploader:{password}", "--header", "Accept: application/json", *fields,
             "-F", f"{file_field}=@{file};type=video/mp4", *options, servers.url(site, scheme) + path],
            capture_output=True, check=True)
        heads, body = run.stdout.rsplit(b"\r\n\r\n", 1)
        head = heads.rsplit(b"\r\n\r\n", 1)[-1].decode()  # after any 100 Continue
        return int(head.split()[1]), head, body.decode()
    return post


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("site", SITES)
def test_stores_an_upload_and_answers_201_with_its_checksum(servers, curl, files, site, scheme):
    file = files.fresh(300_000)
    status, _, body = curl(site, scheme, file)
    answer = json.loads(body)
    assert status == 201
    assert answer["checksum_sha256"] == recordings.sha256(file)
    assert answer["size_bytes"] == 300_000
    assert recordings.sha256(servers.received / answer["file_name"]) == recordings.sha256(file)


@pytest.mark.parametrize("site", SITES)
def test_answers_409_to_the_same_file_of_the_same_event_and_201_for_another(curl, files, site):
    file = files.fresh(1000)
    first = json.loads(curl(site, "http", file)[2])
    status, _, body = curl(site, "http", file)
    again = json.loads(body)
    assert (status, again["existing_asset_id"]) == (409, first["asset_id"])
    assert again["checksum_sha256"] == first["checksum_sha256"]
    status, _, body = curl(site, "http", file, form={**FORM, "org_name": "Another band"})
    assert (status, json.loads(body)["asset_id"]) == (201, first["asset_id"])
    assert "delete_token" in first and "delete_token" not in json.loads(body)


@pytest.mark.parametrize("form, name, message", [
    ({**FORM, "label": " "}, "take.mp4", "Label is required"),
    ({**FORM, "event_date": "20.11.2026"}, "take.mp4", "Invalid event_date format; expected YYYY-MM-DD"),
    (FORM, "take.txt", "Unsupported media type"),
])
def test_answers_400_to_a_form_that_is_wrong(curl, files, form, name, message):
    status, _, body = curl("apache", "http", files.fresh(1000, name), form=form)
    assert (status, json.loads(body)) == (400, {"error": "Bad Request", "message": message})


def test_answers_400_to_an_empty_file(curl, files):
    status, _, body = curl("nginx", "http", files.sparse(0))
    assert (status, json.loads(body)["message"]) == (400, "Empty upload")


def test_answers_500_to_an_unknown_event_type(curl, files):
    status, _, body = curl("nginx", "http", files.fresh(1000), form={**FORM, "event_type": "circus"})
    assert (status, json.loads(body)["error"]) == (500, "Server Error")


@pytest.mark.parametrize("site", SITES)
def test_answers_401_with_a_page_and_its_realm(curl, files, site):
    status, head, body = curl(site, "https", files.fresh(1000), password="wrong")
    assert status == 401
    assert 'www-authenticate: basic realm="gighive upload"' in head.lower()
    assert "<html>" in body.lower()


@pytest.mark.parametrize("site, scheme, size", [
    ("apache-modsecurity-1m", "http", 2 * MIB),
    ("apache-modsecurity-1m", "https", 300 * MIB),
    ("apache-default-limit", "http", 1100 * MIB),
    ("nginx-default-limit", "http", 2 * MIB),
    ("nginx-default-limit", "https", 300 * MIB),
])
def test_answers_413_with_a_page_from_the_web_servers_limit(curl, files, site, scheme, size):
    status, _, body = curl(site, scheme, files.sparse(size))
    assert status == 413
    assert "<html>" in body.lower()


@pytest.mark.parametrize("size", [5 * MIB, 20 * MIB], ids=["upload_max_filesize", "post_max_size"])
@pytest.mark.parametrize("site", ["apache-php-default", "nginx-php-default"])
def test_answers_413_as_json_from_phps_limits(curl, files, site, size):
    status, _, body = curl(site, "http", files.sparse(size))
    assert (status, json.loads(body)["error"]) == (413, "Payload Too Large")


def test_answers_413_to_a_file_under_another_name(curl, files):
    assert curl("apache", "http", files.fresh(1000), file_field="attachment")[0] == 413


def test_refuses_in_the_middle_of_the_body_and_closes(servers, files):
    run = subprocess.run(
        ["curl", "--silent", "--max-time", "30", "--user", f"uploader:{USERS['uploader']}",
         "-F", f"file=@{files.sparse(300 * MIB)}", "--write-out", "\n%{http_code} %{size_upload}",
         servers.url("nginx", "http") + "/api/refuse.php"], capture_output=True, text=True)
    status, sent = run.stdout.splitlines()[-1].split()
    assert status == "413"
    assert 0 < int(sent) < 300 * MIB


@pytest.mark.parametrize("site", SITES)
def test_compresses_a_201_for_a_client_that_accepts_gzip(curl, files, site):
    status, head, body = curl(site, "http", files.fresh(1000), "--compressed")
    assert status == 201
    assert "content-encoding: gzip" in head.lower()
    assert json.loads(body)["size_bytes"] == 1000
