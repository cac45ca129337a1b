"""TLS: only the right server gets a byte of the request. Exit code 5 otherwise."""

import re
import socket
import ssl

from digests import key_pin
from tls_matrix import self_signed


def without_trust(stub):
    stub.certificates = None
    return stub


def test_a_file_and_a_directory_give_trust(hive, send, recording, certificates):
    stub = without_trust(hive(tls=certificates))
    assert send(stub, recording(), "--cacert", certificates.cacert).code == 0
    assert send(stub, recording(name="b.mp4"), "--cacert", certificates.capath).code == 0


def test_a_directory_without_the_authority_gives_no_trust(hive, send, recording, certificates, tmp_path):
    stub = without_trust(hive(tls=certificates))
    result = send(stub, recording(), "--cacert", tmp_path)
    assert result.code == 5 and result.out == "" and stub.requests == [], result


def test_insecure_delivers_and_warns_loudly_and_a_pin_does_not_replace_the_certificates_check(run, forge, serve_tls, recording):
    server = serve_tls(self_signed(forge, is_trusted=False))
    arguments = ["send", recording(), "--multipart-url", f"https://localhost:{server.port}/upload", "--ipv4"]
    result = run(*arguments, "--set", f"pin={key_pin(server.shown.leaf.path)}")
    assert result.code == 5 and result.out == "" and server.received == b"", result
    assert re.search(r"warning.*--insecure", run(*arguments, "--insecure").check().err)


def test_a_client_certificate_is_shown_when_the_server_asks(hive, send, recording, certificates, tmp_path):
    stub = hive(tls=certificates, tls_client_ca=certificates.cacert)
    pair = ["--cert", certificates.client_certificate, "--key", certificates.client_key]
    assert send(stub, recording(), *pair).code == 0
    both = tmp_path / "both.pem"
    both.write_bytes(b"".join(open(path, "rb").read() for path in (pair[1], pair[3])))
    assert send(stub, recording(name="b.mp4"), "--cert", both).code == 0
    subject = dict(pair[0] for pair in stub.wait_for(2)[1].client_certificate["subject"])
    assert subject["commonName"] == "uploader"


def test_the_servers_name_goes_into_the_handshake_and_an_address_does_not(start, recording, certificates):
    names = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.certificate, certificates.key)
    context.sni_callback = lambda sock, name, ctx: names.append(name)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        for host in ("localhost", "127.0.0.1"):
            url = f"https://{host}:{listener.getsockname()[1]}/"
            running = start("send", recording(), "--multipart-url", url, "--ipv4", "--cacert", certificates.cacert)
            connection, _ = listener.accept()
            with context.wrap_socket(connection, server_side=True) as stream:
                assert stream.recv(4) == b"POST"
            running.wait(10)
    assert names == ["localhost", None]
