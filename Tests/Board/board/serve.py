"""The receiver in the guest: HiveStub at an address of the line. Arguments: HiveStub's folder, address, port, store."""

import sys

sys.path.insert(0, sys.argv[1])

from hivestub import HiveStub  # noqa: E402

with HiveStub(host=sys.argv[2], port=int(sys.argv[3]), store=sys.argv[4], user=None):
    sys.stdin.read()
