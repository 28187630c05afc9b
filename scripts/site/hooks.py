"""Hooks of mkdocs for the site of docs/."""

import os
import re

LINK = re.compile(r"\]\(((?:\.\./)+[^)\s#]*)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, config, files):
    """Point links that leave docs/ at the repository, and give lists and tables the empty line before them that mkdocs needs."""
    folder = os.path.dirname(page.file.src_uri)

    def outside(match):
        target = os.path.normpath(os.path.join("docs", folder, match[1]))
        if target.startswith("docs/") and not os.path.isdir(os.path.join(config["docs_dir"], target[len("docs/"):])):
            return match[0]
        return f"]({config['repo_url']}/blob/main/{target}{match[2] or ''})"

    return re.sub(r"(?m)^([^\n|`-][^\n]*)\n(- |\| )", r"\1\n\n\2", LINK.sub(outside, markdown))
