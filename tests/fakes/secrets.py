"""Fake secrets, put together here so that scanners do not report this file."""

from base64 import b64encode
from hashlib import sha512


def _random(seed: str, length: int) -> str:
    """Letters and digits, the same at every run."""
    text = "".join(b64encode(sha512(f"{seed}{n}".encode()).digest()).decode() for n in range(9))
    return "".join(char for char in text if char.isalnum())[:length]


AWS_KEY = "AK" + "IA" + _random("aws", 90).upper()[:16]
GITHUB_TOKEN = "gh" + "p_" + _random("github", 36)
PASSWORD = _random("password", 20)
PRIVATE_KEY = "\n".join(
    [
        "-----BEGIN PRIVATE " + "KEY-----",
        *(_random(f"line{n}", 64) for n in range(8)),
        "-----END PRIVATE " + "KEY-----",
        "",
    ]
)
