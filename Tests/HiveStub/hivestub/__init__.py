"""HiveStub: a loopback receiver that answers like a GigHive server, or misbehaves as ordered."""

from .certificates import Authority, Certificates, make_certificates
from .fault_kinds import KINDS
from .messages import Answer, Part, Request
from .server import HiveStub

__all__ = ["Answer", "Authority", "Certificates", "HiveStub", "KINDS", "Part", "Request", "make_certificates"]
