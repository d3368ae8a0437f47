"How Sphinx builds the site; `docs/build.py` runs it."

import sys
from configparser import ConfigParser
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "tools")]
from reference import cell_of as linkcode_resolve  # noqa: E402, F401

ini = ConfigParser()
ini.read(here.parent / "settings.ini", encoding="utf-8")
cfg = ini["DEFAULT"]

project, author, copyright, release = (
    cfg["lib_name"],
    cfg["author"],
    cfg["copyright"],
    cfg["version"],
)
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "numpydoc",
    "sphinx_copybutton",
    "reference",
    "litext",
]
source_suffix = {".rst": "restructuredtext", ".ipynb": "myst-nb", ".md": "myst-nb"}
exclude_patterns = ["files/**"]

nb_execution_mode = "off"  # the stored outputs are shown
nb_merge_streams = True
nb_render_markdown_format = "myst"
nb_code_prompt_show = nb_code_prompt_hide = "the code"
nb_mime_priority_overrides = [("html", "text/markdown", 5)]
myst_enable_extensions = ["dollarmath", "attrs_inline", "attrs_block", "fieldlist", "html_image"]
myst_heading_anchors = 4
myst_heading_slug_func = "litext.slug"
mathjax_path = "mathjax/tex-svg-full.js"
mathjax3_config = dict(options=dict(enableMenu=False), svg=dict(fontCache="local"))

add_module_names = False
autodoc_typehints = "none"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 72
pygments_style, pygments_dark_style = "github-light", "github-dark"
copybutton_selector = ".cell_input pre, .highlight-sh pre, .highlight-python pre"

html_theme = "furo"
html_title = f"{cfg['title']} {cfg['version']}"
html_static_path, html_css_files, html_js_files = (
    ["_static"],
    ["site.css"],
    [("site.js", dict(defer="defer"))],
)
html_extra_path = ["_build/extra"]  # thumbnails, pages as plain Markdown
templates_path = [str(here / "_templates")]
# Canonical addresses and a sitemap, once settings.ini says where the site lives.
html_baseurl = cfg["doc_host"] + cfg["doc_baseurl"] if cfg["doc_host"] else ""
html_favicon = "_static/favicon.svg"
html_additional_pages = {"404": "404.html"}
html_context = dict(doc_baseurl=cfg["doc_baseurl"])
html_use_index = html_domain_indices = html_copy_source = html_show_sourcelink = (
    html_show_sphinx
) = False
html_theme_options = dict(
    light_css_variables={"color-brand-primary": "#0b5d8f", "color-brand-content": "#0b5d8f"},
    dark_css_variables={"color-brand-primary": "#7cc0ee", "color-brand-content": "#7cc0ee"},
)
