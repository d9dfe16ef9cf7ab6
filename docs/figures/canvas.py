"""A small SVG canvas: one style for all figures, legible on light and dark pages, the same bytes every time."""

from html import escape

_STYLE = """
svg{--card:#fff;--ink:#1f2933;--soft:#647280;--line:#b9c2ca;--fill:#f0f3f5;--start:#0b8a7d;--end:#c8620a}
@media (prefers-color-scheme:dark){svg{--card:#1d2229;--ink:#e7eaee;--soft:#a0acb8;--line:#525d68;--fill:#2b323b;
--start:#3fc7b7;--end:#f29b4c}}
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;font-size:13px;fill:var(--ink)}
.card{fill:var(--card)}.small{font-size:11.5px}.head{font-size:15px;font-weight:600}.soft{fill:var(--soft)}
.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:12px}.bold{font-weight:600}
.box{fill:var(--fill);stroke:var(--line)}.plain{fill:none;stroke:var(--line)}.gone{fill:none;stroke:var(--line);
stroke-dasharray:4 3}.start{fill:var(--start)}.end{fill:var(--end)}.ghost{fill:var(--line)}.ink{fill:var(--ink)}
.line{stroke:var(--line);fill:none;stroke-width:1.5}.start-line{stroke:var(--start);fill:none;stroke-width:2}
.end-line{stroke:var(--end);fill:none;stroke-width:2}.ink-line{stroke:var(--ink);fill:none;stroke-width:2}
.dashed{stroke-dasharray:4 3}.card-text{fill:var(--card)}
""".replace("\n", "")


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


class Canvas:
    """Shapes in the order in which they are drawn; `title` and `about` are read out by screen readers."""

    def __init__(self, width: int, height: int, title: str, about: str) -> None:
        self.width, self.height = width, height
        self._shapes = [
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(about)}</desc>",
            f"<style>{_STYLE}</style>",
            _heads(),
            f'<rect class="card" width="{width}" height="{height}" rx="10"/>',
        ]

    def svg(self) -> str:
        box = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        inside = "\n".join(self._shapes)
        return f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">\n{inside}\n</svg>\n'

    def text(self, x: float, y: float, words: str, style: str = "", anchor: str = "start") -> None:
        self._add("text", f">{escape(words)}</text>", style, x=x, y=y, **{"text-anchor": anchor})

    def rect(self, x: float, y: float, width: float, height: float, style: str = "box", radius: float = 4) -> None:
        self._add("rect", "/>", style, x=x, y=y, width=width, height=height, rx=radius)

    def box(self, x: float, y: float, width: float, height: float, words: str, style: str = "box") -> None:
        """A rectangle with a text in its middle."""
        self.rect(x, y, width, height, style)
        self.text(x + width / 2, y + height / 2 + 4.5, words, anchor="middle")

    def line(self, *points: tuple[float, float], style: str = "line", arrow: bool = False) -> None:
        path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)
        head = f' marker-end="url(#{style.split()[0]})"' if arrow else ""
        self._shapes.append(f'<path class="{style}" d="{path}"{head}/>')

    def bracket(self, first: float, last: float, y: float, height: float, style: str = "line") -> None:
        """A line from `first` to `last` with both ends bent towards the text."""
        self.line((first, y + height), (first, y), (last, y), (last, y + height), style=style)

    def _add(self, tag: str, end: str, style: str, **attributes: float | str) -> None:
        written = "".join(
            f' {name}="{value if isinstance(value, str) else number(value)}"' for name, value in attributes.items()
        )
        self._shapes.append(f"<{tag}{f' class={chr(34)}{style}{chr(34)}' if style else ''}{written}{end}")


def _heads() -> str:
    """One arrow head for each style of lines."""
    names = {"line": "ghost", "start-line": "start", "end-line": "end", "ink-line": "ink"}
    shape = '<path d="M0 0L8 4L0 8z"'
    return "".join(
        f'<marker id="{line}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        f'markerUnits="userSpaceOnUse" orient="auto">{shape} class="{fill}" '
        "/></marker>"
        for line, fill in names.items()
    )
