"""Links between the pages of README and docs."""

from __future__ import annotations

import re
from pathlib import Path


def broken_links(root: Path) -> list[str]:
    """Those below `root` that lead to no file there, or to no heading. Links to other sites are not followed."""
    return [f"{page.relative_to(root)}: {link}" for page in [root / "README.md", *root.glob("docs/**/*.md")] for link in links(page) if is_broken(page, link, root)]


def links(page: Path) -> list[str]:
    text = page.read_text()
    return re.findall(r"\]\(([^)]*)\)", text) + re.findall(r"^\[[^]]+\]: (\S+)$", text, re.MULTILINE)


def is_broken(page: Path, link: str, root: Path) -> bool:
    if re.match("https?:", link):
        return False
    target, _, anchor = link.partition("#")
    path = (page.parent / target).resolve() if target else page
    return not path.exists() or not path.is_relative_to(root.resolve()) or (anchor != "" and anchor not in anchors(path))


def anchors(page: Path) -> set[str]:
    """Of the headings, as GitHub makes them."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
