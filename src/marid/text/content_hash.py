"""Hashes of content. `hashlib` is imported when used: it takes 3 ms that most runs do not need."""


def content_key(data: bytes) -> bytes:
    """Sixteen bytes that identify the content, the same on every machine and in every version."""
    import hashlib

    return hashlib.blake2b(data, digest_size=16).digest()


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of the content, in hexadecimal."""
    import hashlib

    return hashlib.sha256(data).hexdigest()
