"""The TLS matrix. `make tls` runs all rows, `make test` those that are named in `ALWAYS`: one of each kind.
- WRONG: certificates that are each wrong in one way, beside a valid one that differs only in that.
- SERVED: keys, signatures, suites and groups that a server may insist on. The static binaries have an OpenSSL from which much was
  left out; none of this may be.
- CLIENT_KEYS: keys of client certificates."""

from __future__ import annotations

import pytest

from certificates_forge import ADDRESS, ADDRESS6, DAY, HOST, Certificate, Forge, Shown, leaf


def below(forge: Forge, authority: Certificate, *further: Certificate, **options) -> Shown:
    """Of an intermediate authority that the server sends along, and those above it."""
    return Shown(forge.issue(issuer=authority, **options), chain=(authority, *further))


def intermediate(forge: Forge, name: str = "An intermediate authority", key: str = "eca", **options) -> Certificate:
    return forge.authority(f"/CN={name}", **{"issuer": forge.authority(), "key": key, **options})


def used_as_authority(forge: Forge, **options) -> Shown:
    """A leaf below another one, which has no right to sign."""
    other = forge.issue("/CN=a server that signs", issuer=forge.authority(), key="ecb", **options)
    return Shown(forge.issue(issuer=other), chain=(other,))


def too_deep(forge: Forge, path_length: int | None) -> Shown:
    upper = intermediate(forge, "An upper authority", path_length=path_length)
    lower = intermediate(forge, "A lower authority", key="ecb", issuer=upper)
    return Shown(forge.issue(issuer=lower), chain=(lower, upper))


def of_rsa_authority(forge: Forge, key: str) -> Shown:
    return Shown(forge.issue(issuer=forge.authority("/CN=An RSA authority", key=key)))


def self_signed(forge: Forge, is_trusted: bool) -> Shown:
    own = forge.issue(is_authority=True, usage="digitalSignature,keyCertSign")
    return Shown(own, trusted=own if is_trusted else forge.authority())


def with_nul(name: str, rest: str) -> str:
    """A subjectAltName whose one DNS name has a NUL inside, which `DNS:` cannot say."""
    value = name.encode() + b"\0" + rest.encode()
    name_field = bytes([0x82, len(value)]) + value
    return "DER:" + (bytes([0x30, len(name_field)]) + name_field).hex(":")


ALWAYS = {
    "expired", "of an unknown authority", "without its intermediate authority", "for another host", "for another address",
    "of a server's certificate", "with RSA of 1024 bits", "for clients",
    "rsa4096-rsa2048-p256, TLS 1.2", "p384-p384-p256, TLS 1.3", "ECDHE-RSA-AES128-GCM-SHA256", "TLS_AES_128_GCM_SHA256",
    "P-256, TLS 1.3", "p256 as SEC 1, TLS 1.3",
    # test_tls_refusals.py
    "TLS 1.1", "no forward secrecy", "40", "an HTTP answer", "an empty handshake record", "before the answer", "in the content",
    # test_tls_clients.py
    "of nobody, TLSv1_2, 1000", "of nobody, TLSv1_3, 8000000", "of an unknown authority, TLSv1_3, 60000",
    "20000000 after 0.3 s", "full with 1000000", "at full speed", "expired, 8000000, later",
}


def row(name: str, *values, marks=()):
    """A row of a table."""
    return pytest.param(*values, id=name, marks=[*marks, *([] if name in ALWAYS else [pytest.mark.tls_matrix])])


def wrong(words: str, name: str, bad, good=leaf, host: str = HOST):
    """`bad` and `good` take a Forge and give what is shown. The message contains the host's name and these words."""
    return row(name, bad, good, host, words.split())


def _names(*names: str, subject: str = "/CN=a server"):
    return lambda forge: leaf(forge, names=names, subject=subject)


def _key_usage(usage: str):
    return lambda forge: leaf(forge, key="rsa2048", usage=usage)


def _below(**options):
    """Of an intermediate authority like this."""
    return lambda forge: below(forge, intermediate(forge, **options))


def _constrained(constraints: str, name: str):
    return lambda forge: below(forge, intermediate(forge, constraints="critical," + constraints), names=(name,))


def _stranger(forge: Forge) -> Certificate:
    return forge.authority("/CN=Somebody else", key="eca")


ANY_LABEL = _names("DNS:*.hive.test")
WRONG = [
    # Time
    wrong("expired clock", "expired", lambda forge: leaf(forge, begins=-9 * DAY, ends=-DAY)),
    wrong("not yet valid clock", "not yet valid", lambda forge: leaf(forge, begins=DAY)),
    wrong("expired clock", "below an expired authority", _below(begins=-9 * DAY, ends=-DAY), _below()),
    wrong(
        "expired", "of an expired root",
        lambda forge: Shown(forge.issue(issuer=forge.authority("/CN=Old root", begins=-9 * DAY, ends=-DAY)))),
    # Trust
    wrong(
        "self-signed --cacert", "self-signed", lambda forge: self_signed(forge, is_trusted=False),
        lambda forge: self_signed(forge, is_trusted=True)),
    wrong(
        "--cacert", "of an unknown authority",
        lambda forge: Shown(forge.issue(issuer=_stranger(forge)), trusted=forge.authority())),
    wrong(
        "--cacert", "of an authority that has only the trusted one's name",
        lambda forge: Shown(forge.issue(issuer=forge.authority(key="ecc")), trusted=forge.authority())),
    wrong(
        "intermediate --cacert", "without its intermediate authority",
        lambda forge: Shown(forge.issue(issuer=intermediate(forge))), _below()),
    # Names
    wrong("name", "for another host", _names("DNS:other.hive.test")),
    wrong("name", "with the host only in CN", _names(subject=f"/CN={HOST}")),
    wrong("name", "with a wildcard for a part, g*", _names("DNS:g*.hive.test"), ANY_LABEL),
    wrong("name", "with a wildcard for two labels", _names("DNS:*.test"), ANY_LABEL),
    wrong("name", "with a wildcard for everything", _names("DNS:*"), ANY_LABEL),
    wrong("name", "with a wildcard for a deeper host", ANY_LABEL, _names("DNS:*.gig.hive.test"), "a.gig.hive.test"),
    wrong("name", "with a wildcard for the domain itself", ANY_LABEL, _names("DNS:hive.test"), "hive.test"),
    wrong("name", "for a longer name", _names(f"DNS:{HOST}.evil.test", f"DNS:x{HOST}"), _names("DNS:GIG.Hive.TEST")),
    wrong("name", "with a NUL in the name", lambda forge: leaf(forge, alternative_name=with_nul(HOST, ".evil.test"))),
    wrong("name", "for an address only", _names(f"IP:{ADDRESS}")),
    # Addresses
    wrong("name", "for another address", _names("IP:192.0.2.8"), host=ADDRESS),
    wrong("name", "with the address as a name", _names(f"DNS:{ADDRESS}"), host=ADDRESS),
    wrong("name", "for the name only", _names(f"DNS:{HOST}"), host=ADDRESS),
    wrong("name", "for another IPv6 address", _names("IP:2001:db8::8"), host=f"[{ADDRESS6}]"),
    # What an authority may do
    wrong(
        "server's issued", "of an authority for other names", _constrained("permitted;DNS:other.test", f"DNS:{HOST}"),
        _constrained("permitted;DNS:hive.test", f"DNS:{HOST}")),
    wrong(
        "server's issued", "of an authority that excludes the name", _constrained("excluded;DNS:hive.test", f"DNS:{HOST}"),
        _constrained("excluded;DNS:other.test", f"DNS:{HOST}")),
    wrong(
        "server's issued", "of a server's certificate", used_as_authority,
        lambda forge: used_as_authority(forge, is_authority=True, usage="keyCertSign")),
    wrong("server's issued", "of an authority that may not sign", _below(usage="digitalSignature,cRLSign"), _below()),
    wrong("server's issued", "too far below its authority", lambda forge: too_deep(forge, 0), lambda forge: too_deep(forge, 1)),
    # Strength
    wrong(
        "too small 2048", "with RSA of 1024 bits", lambda forge: leaf(forge, key="rsa1024"),
        lambda forge: leaf(forge, key="rsa2048")),
    wrong("weak SHA-256", "signed with SHA-1", lambda forge: leaf(forge, digest="sha1")),
    wrong(
        "weak SHA-256", "signed with MD5",
        lambda forge: Shown(forge.issue(issuer=forge.authority("/CN=An RSA authority", key="rsa2048"), digest="md5")),
        lambda forge: of_rsa_authority(forge, "rsa2048")),
    # Purposes
    wrong(
        "purpose server's", "for clients", lambda forge: leaf(forge, extended_usage="clientAuth"),
        lambda forge: leaf(forge, extended_usage="serverAuth,clientAuth")),
    wrong(
        "server's", "for encrypting keys only", _key_usage("keyEncipherment"),
        _key_usage("digitalSignature,keyEncipherment")),
]

VERSIONS = {"1.2": "-tls1_2", "1.3": "-tls1_3"}


def digest_of(key: str) -> str:
    """What signs with a key of this kind usually takes; EdDSA has its own."""
    return {"p384": "sha384", "p521": "sha512"}.get(key, "default" if key.startswith("ed") else "sha256")


def chain(root: str, intermediate: str, leaf: str = "", digest: str = "", **options):
    """Of keys of these kinds, each signed by the one before it; `digest` instead of the usual one for the key that signs. One key
    of each kind is enough, because chains are built by name."""

    def make(forge: Forge) -> Shown:
        top = forge.authority(f"/CN=Root {root}", key=root, digest=digest or digest_of(root), **options)
        middle = forge.authority(f"/CN=Below {root}", key=intermediate, issuer=top, digest=digest or digest_of(root), **options)
        last = forge.issue(issuer=middle, key=leaf or intermediate, digest=digest or digest_of(intermediate), **options)
        return Shown(last, chain=(middle,))

    return make


def crossed(trusts_the_old: bool):
    """A root that another one has signed, as an authority's new ECDSA root is until every store has it."""

    def make(forge: Forge) -> Shown:
        old = forge.authority("/CN=Old root", key="rsa4096")
        new = forge.authority("/CN=New root", key="p384", digest="sha384")
        signed = forge.authority("/CN=New root", key="p384", issuer=old)
        middle = forge.authority("/CN=Below the new root", key="p384a", issuer=new, digest="sha384")
        last = forge.issue(issuer=middle, key="p256", digest="sha384")
        return Shown(last, (middle, signed), old if trusts_the_old else new)

    return make


def has_aes() -> bool:
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        return any(line.startswith("flags") and " aes " in line + " " for line in file)


def suite(name: str, version: str):
    """AES-256 is offered where the processor has instructions for AES, so not by emulated boards."""
    needs_aes = "256_G" in name or "256-G" in name
    marks = [pytest.mark.native, pytest.mark.skipif(not has_aes(), reason="this processor has no AES instructions")]
    key = "rsa2048" if "RSA" in name else "p256"
    options = [VERSIONS[version], "-cipher" if version == "1.2" else "-ciphersuites", name]
    return row(name, chain(key, key), options, rf"TLSv{version} {name}\b".replace(".", r"\."), marks=marks if needs_aes else ())


KEYS = ["rsa2048", "rsa3072", "rsa4096", "pss2048", "pss3072", "p256", "p384", "p521", "ed25519", "ed448"]
MIXED = [
    # The first ones as the public authorities have them.
    ("rsa4096", "rsa2048"), ("rsa4096", "rsa2048", "p256"), ("rsa4096", "p384", "p256"), ("p384", "p384", "p256"),
    ("p384", "p384", "rsa2048"), ("p521", "p256", "rsa3072"), ("rsa4096", "rsa3072", "p384"), ("ed25519", "p256", "ed25519"),
]
RSA_DIGESTS = [
    ("rsa2048", "sha256"), ("rsa2048", "sha384"), ("rsa2048", "sha512"), ("rsa3072", "sha256"), ("rsa4096", "sha256"),
]
SUITES = {
    "1.2": [
        *(f"ECDHE-{kind}-{cipher}" for kind in ("RSA", "ECDSA") for cipher in (
            "AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305", "AES128-SHA256", "AES128-SHA")),
        "ECDHE-ECDSA-AES128-CCM", "DHE-RSA-AES128-GCM-SHA256", "DHE-RSA-AES256-GCM-SHA384", "DHE-RSA-CHACHA20-POLY1305",
    ],
    "1.3": ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"],
}
GROUPS = {"X25519": "x25519", "P-256": "secp256r1", "P-384": "secp384r1", "P-521": "secp521r1", "X448": "x448"}
"""Under TLS 1.3 after a HelloRetryRequest, if no key of this group was sent."""

SERVED = [
    *(row(f"{'-'.join(keys)}, TLS {version}", chain(*keys), [option], f"TLSv{version}")
      for keys in [*((key, key) for key in KEYS), *MIXED] for version, option in VERSIONS.items()),
    *(row(f"{key} with {digest}, {padding}", chain(key, key, digest=digest, has_padding=padding == "RSA-PSS"), [], "TLSv1.3")
      for key, digest in RSA_DIGESTS for padding in ("PKCS 1", "RSA-PSS")),
    *(row(f"{key} with {digest}", chain(key, key, digest=digest), [], "TLSv1.3")
      for key in ("p256", "p384", "p521") for digest in ("sha256", "sha384", "sha512")),
    row("below a root that the trusted one has signed", crossed(True), [], "TLSv1.3"),
    row("below a root that is trusted and that another one has signed", crossed(False), [], "TLSv1.3"),
    *(suite(name, version) for version, names in SUITES.items() for name in names),
    *(row(f"{group}, TLS {version}", chain("rsa2048", "rsa2048"), [option, "-groups", group], rf"TLSv{version} [\w-]+ {shown}\b")
      for group, shown in GROUPS.items() for version, option in VERSIONS.items()),
    *(row(group, chain("rsa2048", "rsa2048"), ["-tls1_3", "-groups", group], rf"TLSv1.3 [\w-]+ {group}\b")
      for group in ("ffdhe2048", "ffdhe3072")),
]
"""What the server shows, its options, and what the client says of the connection."""

CLIENT_KEYS = [
    row(f"{key} as {form}, TLS {version}", key, prefix, option)
    for form, prefix, keys in (
        ("PKCS 8", "", ("rsa2048", "pss2048", "p256", "p384", "p521", "ed25519", "ed448")),
        ("PKCS 1", "RSA ", ("rsa2048",)), ("SEC 1", "EC ", ("p256", "p384", "p521")),
    )
    for key in keys for version, option in VERSIONS.items()
]
"""The kind of key, what comes before PRIVATE KEY in such a file, and the server's option."""
