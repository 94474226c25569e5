"""Short names for content."""


def content_key(data: bytes) -> bytes:
    """Sixteen bytes that stand for the content, the same on every machine and in every version."""
    import hashlib  # imported when used: 3 ms that a run without token counts does not need

    return hashlib.blake2b(data, digest_size=16).digest()
