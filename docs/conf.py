"""Sphinx settings. `make docs` builds with warnings as errors, and needs no network."""

from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref

from unisymnet import __version__

project = "unisymnet"
author = "the unisymnet authors"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"
napoleon_numpy_docstring = True
napoleon_use_ivar = True

html_theme = "pydata_sphinx_theme"
html_title = f"unisymnet {release}"
html_static_path = ["_static"]
html_show_sourcelink = False
html_sidebars: dict[str, list[str]] = {"*": [], "project/*": [], "adr/*": []}  # pages without sisters need no menu
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_align": "left",
    "footer_start": [],
    "footer_end": [],
}

# Files of the repository's root that have a page here, as links inside them name each other.
ROOT_PAGES = {f"{name}.md": f"project/{name.lower()}" for name in ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG")}


def decision_records_stand_alone(app: Any, name: str, source: list[str]) -> None:
    """The index of the records links to them; they need no place in the menu."""
    if name.startswith("adr/0"):
        source[0] = f"---\norphan: true\n---\n{source[0]}"


def link_root_pages(app: Any, tree: nodes.document) -> None:
    for node in tree.findall(pending_xref):
        page = ROOT_PAGES.get(node.get("reftarget", ""))
        if page is not None:
            node.attributes |= {"refdomain": "std", "reftype": "doc", "reftarget": f"/{page}", "refexplicit": True}


def setup(app: Any) -> None:
    app.connect("source-read", decision_records_stand_alone)
    app.connect("doctree-read", link_root_pages)
