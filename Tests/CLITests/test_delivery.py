"""A recording reaches a server, and the program says so only when the server has confirmed it."""

import datetime

import pytest
from uploads import form_options, is_delivered, sha256

FULL_FORM = {
    "event_date": "2026-02-28",
    "org_name": "Die Löwen",
    "event_type": "wedding",
    "label": "First set",
    "participants": "Ann, Bert",
    "keywords": "live,jazz",
    "location": "Köln",
    "rating": "5",
    "notes": "two\nlines",
}


def test_a_recording_is_delivered_over_http_and_https(any_hive, send, recording):
    hive, file = any_hive(), recording()
    result = send(hive, file).check()
    request = hive.wait_for(1)[0]
    assert (request.method, request.target) == ("POST", "/api/uploads.php?ui=json")
    assert (request.status, request.complete, request.file.sha256) == (201, True, sha256(file))
    assert request.file.filename == "gig.mp4"
    assert "gig.mp4: delivered" in result.out
    assert sha256(file) + " (verified)" in result.out
    assert "asset     1" in result.out


def test_a_name_and_an_ipv6_address_lead_to_the_server(hive, send, recording, certificates):
    stub = hive(tls=certificates)
    stub_url = f"https://localhost:{stub.port}"
    assert send(stub, recording(), "--server", stub_url).code == 0
    six = hive(host="::1", tls=certificates)
    assert send(six, recording(), "--ipv6").code == 0
    assert six.wait_for(1)[0].header("Host") == f"[::1]:{six.port}"


def test_every_field_of_the_form_arrives(hive, send, recording):
    stub = hive()
    options = form_options(FULL_FORM)
    assert send(stub, recording(), *options).code == 0
    assert dict(stub.wait_for(1)[0].fields) == FULL_FORM


def test_the_date_is_today_and_the_type_band_unless_they_are_given(hive, send, recording):
    stub = hive()
    before = datetime.date.today()
    assert send(stub, recording()).code == 0
    fields = dict(stub.wait_for(1)[0].fields)
    assert fields.pop("event_date") in {before.isoformat(), datetime.date.today().isoformat()}
    assert fields == {"event_type": "band", "label": "First set"}


def test_any_other_endpoint_takes_fields_in_the_order_given(any_hive, post, recording):
    hive, file = any_hive(), recording(name="x.bin")
    fields = ["--field", "b=2", "--field", "a==1=", "--field", "empty="]
    post(hive, file, *fields, "--file-field", "upload", "--file-name", "other.dat", "--set", "mime=text/plain").check()
    request = hive.wait_for(1)[0]
    assert request.target == "/upload"
    assert request.fields == [("b", "2"), ("a", "=1="), ("empty", "")]
    part = request.file
    assert (part.name, part.filename, part.content_type) == ("upload", "other.dat", "text/plain")
    assert request.header("Authorization") == ""


def test_another_endpoint_gets_the_forms_fields_that_were_given_and_no_defaults(hive, post, recording):
    stub = hive()
    post(stub, recording(), "--label", "First set", "--org-name", "Die Löwen", "--field", "a=1").check()
    assert stub.wait_for(1)[0].fields == [("org_name", "Die Löwen"), ("label", "First set"), ("a", "1")]


def test_a_digest_is_computed_for_another_endpoint_only_on_demand(hive, post, recording):
    stub, file = hive(), recording()
    without, with_digest = post(stub, file, "--json"), post(stub, file, "--json", "--digest", "--again")
    assert "checksum_sha256" not in without.outcome
    assert with_digest.outcome["checksum_sha256"] == sha256(file)


def test_the_same_recording_again_counts_as_delivered(hive, send, recording):
    stub, file = hive(), recording()
    first, second = send(stub, file), send(stub, file, "--again")
    assert (first.code, second.code) == (0, 0), second
    assert stub.wait_for(2)[1].status == 409
    assert "already there" in second.out and "delivered" in first.out
    again = send(stub, file, "--json", "--again").outcome
    assert (again["event"], again["already_there"], again["asset_id"]) == ("delivered", True, 1)


@pytest.mark.parametrize("location, concern", [("http://portal.example/login", "network"), ("/login", "destination")])
def test_a_redirect_to_another_host_over_http_may_be_a_captive_portals(hive, send, recording, location, concern):
    failed = send(hive(f"http-redirect=302:{location}"), recording(), "--json").outcome
    assert (failed["exit_code"], failed["concerns"]) == (7, concern)


def test_a_redirect_to_another_host_over_https_is_the_servers(hive, certificates, send, recording):
    stub = hive("http-redirect=302:http://portal.example/login", tls=certificates)
    assert send(stub, recording(), "--json").outcome["concerns"] == "destination"


@pytest.mark.parametrize(("status", "size"), [(307, 1000), (308, 2_000_000)])
def test_a_recording_goes_where_the_server_redirects_it(any_hive, send, recording, status, size):
    """The second size asks for 100 (Continue) first."""
    hive, file = any_hive(f"http-redirect={status}:/api/uploads.php?ui=json&moved=1"), recording(size)
    send(hive, file).check()
    assert is_delivered(hive, file)
    first, second = hive.wait_for(2)
    assert (first.method, second.method) == ("POST", "POST")
    assert second.header("Authorization") == first.header("Authorization") != ""
