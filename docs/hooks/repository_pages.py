"""Hook of mkdocs: pages of the repository outside docs/, and links that work both on the site and on a code host.

On a code host `../SECURITY.md` leads out of docs/. On the site the pages of `OUTSIDE` stand beside those of docs/,
under their path in the repository, and links to them and from them are written anew. The log is not searched.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

OUTSIDE = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "recipes/questions/README.md")
_UNSEARCHED = {"log.md"}
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    root = _root(config)
    for path in OUTSIDE:
        files.append(File.generated(config, path, abs_src_path=str(root / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    uri = page.file.src_uri
    if uri in _UNSEARCHED:
        page.meta["search"] = {"exclude": True}
    parts = _FENCE.split(markdown)
    return "".join(part if part.startswith("```") else relinked(part, uri, _root(config)) for part in parts)


def relinked(markdown: str, uri: str, root: Path) -> str:
    """Markdown of the page `uri` whose links are those of the site."""
    return _LINK.sub(lambda link: _link(link, uri, root), markdown)


def _link(link: re.Match[str], uri: str, root: Path) -> str:
    """The link on the site; only its text if it leads to a file that is no page."""
    target = repository_path(uri, link["path"])
    if target in OUTSIDE or target.startswith("docs/"):
        path = posixpath.relpath(target.removeprefix("docs/"), posixpath.dirname(uri) or ".")
        return f"[{link['text']}]({path}{link['anchor'] or ''})"
    return link["text"] if (root / target).exists() else link[0]


def repository_path(uri: str, path: str) -> str:
    """Where a link of the page `uri` leads in the repository."""
    here = uri if uri in OUTSIDE else f"docs/{uri}"
    return posixpath.normpath(posixpath.join(posixpath.dirname(here), path))


def _root(config: MkDocsConfig) -> Path:
    return Path(config.docs_dir).parent
