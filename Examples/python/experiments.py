"""Which arm of an experiment an install is in. For whoever sends pushes: leave the control arm out."""

import hashlib
from fractions import Fraction


def place(salt, install_id):
    """From 0 to 2^64: where the experiment puts the install."""
    return int.from_bytes(hashlib.sha256(f"{salt}:{install_id.lower()}".encode()).digest()[:8], "big")


def arm(salt, control, install_id):
    """`control` is in percent. Exact, where a double would be off for one install in 2^53."""
    return "control" if place(salt, install_id) < Fraction(str(control)) / 100 * 2**64 else "treated"
