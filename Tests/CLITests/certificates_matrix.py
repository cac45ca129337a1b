"""Certificates that are each wrong in one way. Every case also has a valid one that differs only in that."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Case:
    """One way to be wrong. `wrong` and `good` take a Forge and give what is shown."""

    name: str
    wrong: object
    good: object = leaf
    words: tuple[str, ...] = ()
    """What the message must contain besides the host's name."""
    host: str = HOST

    def __str__(self) -> str:
        return self.name


def _names(*names: str, subject: str = "/CN=a server"):
    return lambda forge: leaf(forge, names=names, subject=subject)


def _key_usage(usage: str):
    return lambda forge: leaf(forge, key="rsa2048", usage=usage)


TIME = [
    Case("expired", lambda forge: leaf(forge, begins=-9 * DAY, ends=-DAY), words=("expired", "clock")),
    Case("expired a minute ago", lambda forge: leaf(forge, ends=-60), words=("expired", "clock")),
    Case("not yet valid", lambda forge: leaf(forge, begins=DAY), words=("not yet valid", "clock")),
    Case(
        "below an expired authority",
        lambda forge: below(forge, intermediate(forge, begins=-9 * DAY, ends=-DAY)),
        lambda forge: below(forge, intermediate(forge)), words=("expired", "clock")),
    Case(
        "below an authority that begins tomorrow",
        lambda forge: below(forge, intermediate(forge, begins=DAY)),
        lambda forge: below(forge, intermediate(forge)), words=("not yet valid", "clock")),
    Case(
        "of an expired root",
        lambda forge: Shown(forge.issue(issuer=forge.authority("/CN=Old root", begins=-9 * DAY, ends=-DAY))),
        words=("expired",)),
]

TRUST = [
    Case(
        "self-signed", lambda forge: self_signed(forge, is_trusted=False),
        lambda forge: self_signed(forge, is_trusted=True), words=("self-signed", "--cacert")),
    Case(
        "of an unknown authority", lambda forge: Shown(
            forge.issue(issuer=forge.authority("/CN=Somebody else", key="eca")), trusted=forge.authority()),
        words=("--cacert",)),
    Case(
        "of an unknown authority that is sent along", lambda forge: Shown(
            forge.issue(issuer=forge.authority("/CN=Somebody else", key="eca")),
            chain=(forge.authority("/CN=Somebody else", key="eca"),), trusted=forge.authority()),
        words=("--cacert",)),
    Case(
        "of an authority that has only the trusted one's name", lambda forge: Shown(
            forge.issue(issuer=forge.authority(key="ecc")), trusted=forge.authority()), words=("--cacert",)),
    Case(
        "without its intermediate authority", lambda forge: Shown(forge.issue(issuer=intermediate(forge))),
        lambda forge: below(forge, intermediate(forge)), words=("intermediate", "--cacert")),
]

HOSTS = [
    Case("for another host", _names("DNS:other.hive.test"), words=(HOST, "name")),
    Case("with the host only in CN", _names(subject=f"/CN={HOST}"), words=(HOST, "name")),
    Case("with the host in CN and another name", _names("DNS:a.test", subject=f"/CN={HOST}"), words=(HOST, "name")),
    Case("with a wildcard for a part, g*", _names("DNS:g*.hive.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with a wildcard for a part, *g", _names("DNS:*g.hive.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with a wildcard for a part, g*g", _names("DNS:g*g.hive.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with a wildcard for two labels", _names("DNS:*.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with two wildcards", _names("DNS:*.*.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with a wildcard in the middle", _names("DNS:gig.*.test"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case("with a wildcard for everything", _names("DNS:*"), _names("DNS:*.hive.test"), (HOST, "name")),
    Case(
        "with a wildcard for a deeper host", _names("DNS:*.hive.test"), _names("DNS:*.gig.hive.test"),
        ("a.gig.hive.test", "name"), host="a.gig.hive.test"),
    Case(
        "with a wildcard for the domain itself", _names("DNS:*.hive.test"), _names("DNS:hive.test"),
        ("hive.test", "name"), host="hive.test"),
    Case(
        "for a longer name", _names(f"DNS:{HOST}.evil.test", f"DNS:x{HOST}"), _names("DNS:GIG.Hive.TEST"),
        (HOST, "name")),
    Case(
        "with a NUL in the name", lambda forge: leaf(forge, alternative_name=with_nul(HOST, ".evil.test")),
        words=(HOST, "name")),
    Case("for an address only", _names(f"IP:{ADDRESS}"), words=(HOST, "name")),
    Case("for an e-mail address and a URI", _names(f"email:a@{HOST}", f"URI:https://{HOST}/"), words=(HOST, "name")),
]

ADDRESSES = [
    Case("for another address", _names("IP:192.0.2.8"), words=(ADDRESS, "name"), host=ADDRESS),
    Case("with the address as a name", _names(f"DNS:{ADDRESS}"), words=(ADDRESS, "name"), host=ADDRESS),
    Case("with the address only in CN", _names(subject=f"/CN={ADDRESS}"), words=(ADDRESS, "name"), host=ADDRESS),
    Case("with a wildcard for an address", _names("DNS:*.0.2.7"), words=(ADDRESS, "name"), host=ADDRESS),
    Case("for the name only", _names(f"DNS:{HOST}"), words=(ADDRESS, "name"), host=ADDRESS),
    Case(
        "for another IPv6 address", _names("IP:2001:db8::8"), words=(ADDRESS6, "name"), host=f"[{ADDRESS6}]"),
]

CONSTRAINTS = [
    Case(
        "of an authority for other names",
        lambda forge: below(forge, intermediate(forge, constraints="critical,permitted;DNS:other.test")),
        lambda forge: below(
            forge, intermediate(forge, constraints="critical,permitted;DNS:hive.test"), names=(f"DNS:{HOST}",)),
        words=("server's", "issued")),
    Case(
        "of an authority that excludes the name",
        lambda forge: below(
            forge, intermediate(forge, constraints="critical,excluded;DNS:hive.test"), names=(f"DNS:{HOST}",)),
        lambda forge: below(
            forge, intermediate(forge, constraints="critical,excluded;DNS:other.test"), names=(f"DNS:{HOST}",)),
        words=("server's", "issued")),
    Case(
        "of an authority for other addresses",
        lambda forge: below(
            forge, intermediate(forge, constraints="critical,permitted;IP:198.51.100.0/255.255.255.0"),
            names=(f"IP:{ADDRESS}",)),
        lambda forge: below(
            forge, intermediate(forge, constraints="critical,permitted;IP:192.0.2.0/255.255.255.0"),
            names=(f"IP:{ADDRESS}",)),
        words=("server's", "issued"), host=ADDRESS),
    Case(
        "of a server's certificate", used_as_authority,
        lambda forge: used_as_authority(forge, is_authority=True, usage="keyCertSign"), words=("server's", "issued")),
    Case(
        "of an authority that may not sign",
        lambda forge: below(forge, intermediate(forge, usage="digitalSignature,cRLSign")),
        lambda forge: below(forge, intermediate(forge)), words=("server's", "issued")),
    Case(
        "too far below its authority", lambda forge: too_deep(forge, 0), lambda forge: too_deep(forge, 1),
        words=("server's", "issued")),
]

STRENGTH = [
    Case(
        "with RSA of 1024 bits", lambda forge: leaf(forge, key="rsa1024"), lambda forge: leaf(forge, key="rsa2048"),
        words=("too small", "2048")),
    Case(
        "of an authority with RSA of 1024 bits", lambda forge: of_rsa_authority(forge, "rsa1024"),
        lambda forge: of_rsa_authority(forge, "rsa2048"), words=("too small", "2048")),
    Case("signed with SHA-1", lambda forge: leaf(forge, digest="sha1"), words=("weak", "SHA-256")),
    Case(
        "signed with MD5", lambda forge: Shown(
            forge.issue(issuer=forge.authority("/CN=An RSA authority", key="rsa2048"), digest="md5")),
        lambda forge: of_rsa_authority(forge, "rsa2048"), words=("weak", "SHA-256")),
    Case(
        "below an authority signed with SHA-1", lambda forge: below(forge, intermediate(forge, digest="sha1")),
        lambda forge: below(forge, intermediate(forge)), words=("weak", "SHA-256")),
]

PURPOSES = [
    Case(
        "for clients", lambda forge: leaf(forge, extended_usage="clientAuth"),
        lambda forge: leaf(forge, extended_usage="serverAuth,clientAuth"), words=("purpose", "server's")),
    Case(
        "for code signing", lambda forge: leaf(forge, extended_usage="codeSigning"),
        lambda forge: leaf(forge, extended_usage="serverAuth"), words=("purpose", "server's")),
    Case(
        "for encrypting keys only", _key_usage("keyEncipherment"), _key_usage("digitalSignature,keyEncipherment"),
        words=("server's",)),
    Case(
        "for signing certificates only", _key_usage("keyCertSign"), _key_usage("digitalSignature"),
        words=("server's",)),
]

CASES = [*TIME, *TRUST, *HOSTS, *ADDRESSES, *CONSTRAINTS, *STRENGTH, *PURPOSES]
