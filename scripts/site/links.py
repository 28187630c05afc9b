"""Checks that the links of the site in a folder lead to files and anchors that exist. Links to other sites are not followed."""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The anchors and links of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(value for name in ("id", "name") if (value := values.get(name)))
        self.links += [value for name in ("href", "src") if (value := values.get(name))]


def dead(folder):
    """Yield the links that lead nowhere, and return the number of links."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            name = urllib.parse.unquote(parts.path)
            begin = folder if name.startswith("/") else path.parent
            target = (begin / name.lstrip("/")).resolve() if name else path
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                yield f"{path.relative_to(folder)}: {link}"
            elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path.relative_to(folder)}: {link}: the page has no such anchor"
    print(f"site: {len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")


problems = list(dead(pathlib.Path(sys.argv[1]).resolve()))
print("\n".join(problems))
sys.exit(bool(problems))
