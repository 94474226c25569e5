"""Hashes of content. Importing `hashlib` takes 3 ms, so it is imported on use."""


def content_key(data: bytes) -> bytes:
    """Sixteen bytes that identify the content on every machine and in every version."""
    import hashlib

    return hashlib.blake2b(data, digest_size=16).digest()


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of the content in hexadecimal."""
    import hashlib

    return hashlib.sha256(data).hexdigest()
