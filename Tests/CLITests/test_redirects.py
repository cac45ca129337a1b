"""A redirect that keeps the method is followed, but never out of TLS. What other servers do not get: test_headers.py"""

import pytest
from uploads import is_delivered

WITH_EXPECT = 2_000_000
"""A recording of this size asks for 100 (Continue) first."""


@pytest.mark.parametrize(("status", "size"), [(307, 1000), (308, WITH_EXPECT)])
def test_the_recording_goes_where_the_server_says(any_hive, send, recording, status, size):
    hive, file = any_hive(f"http-redirect={status}:/api/uploads.php?ui=json&moved=1"), recording(size)
    send(hive, file).check()
    assert is_delivered(hive, file)
    first, second = hive.wait_for(2)
    assert (first.method, second.method) == ("POST", "POST")
    assert second.header("Authorization") == first.header("Authorization") != ""


def test_a_redirection_out_of_tls_is_a_refusal(hive, send, recording, certificates):
    elsewhere = hive(user=None)
    stub = hive(f"http-redirect=307:{elsewhere.url}/up", tls=certificates)
    result = send(stub, recording())
    assert result.code == 7 and elsewhere.url in result.err, result
    assert elsewhere.requests == []
