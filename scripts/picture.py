"""Draw a terminal's text as an SVG picture: `marid overview DIR | python scripts/picture.py > docs/overview.svg`."""

import html
import sys

_WIDTH, _HEIGHT, _MARGIN = 8.4, 18, 20


def draw(lines: list[str], title: str) -> str:
    """The picture of these lines in a window."""
    columns = max((len(line) for line in lines), default=0)
    width = int(columns * _WIDTH) + 2 * _MARGIN
    height = len(lines) * _HEIGHT + 2 * _MARGIN + 30
    rows = "\n".join(
        f'<text x="{_MARGIN}" y="{60 + number * _HEIGHT}" xml:space="preserve">{html.escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    size = f'width="{width}" height="{height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">
<rect width="100%" height="100%" rx="10" fill="#1e2227"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/>
<circle cx="62" cy="20" r="6" fill="#28c840"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#d7dce2">
{rows}
</g>
</svg>
"""


if __name__ == "__main__":
    sys.stdout.write(draw(sys.stdin.read().splitlines(), "marid overview"))
