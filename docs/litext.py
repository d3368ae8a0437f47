"""A Sphinx extension for mathematics in notebooks.

MathJax comes from a wheel, display mathematics is passed on as typed, what has a number can be
linked and searched for, and code spans that name something public lead to the reference.
"""

import hashlib
import re
from html import escape
from importlib.metadata import distribution
from pathlib import Path

import reference
from book import NUMBER
from docutils import nodes
from sphinx.domains import Domain, ObjType
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

log = logging.getLogger(__name__)

BOXED = ["Theorem", "Lemma", "Proposition", "Corollary", "Definition", "Algorithm", "Assumption"]
KINDS = [*BOXED, "Remark", "Example", "Exercise", "Figure", "Table"]
PAPERS = "CS|KLR|TPM|TKP|WZL"
AND = r"(?:, and |, | and |–| to | or )"
TAG = re.compile(r"\\tag\{([^}]*)\}")
STATED = re.compile(rf"({'|'.join(KINDS)})s? ({NUMBER})(?: and ({NUMBER}))?")
NUMBERED = re.compile(rf"({'|'.join(KINDS)})s? \S*\d\.\d")
CAPTION = re.compile(r"(Figure|Table) \d+\.?$")  # of a tutorial, to which nothing refers
NAMED = re.compile(rf"({'|'.join(KINDS)}) {NUMBER}\.?\s*\(([^()]+)\)")
# `KLR (1.5)` is an equation of the paper.
THEIRS = rf"\b(?:{PAPERS})(?:['’]s)? \({NUMBER}\)(?:{AND}\({NUMBER}\))*"
OURS = rf"\({NUMBER}\)|\b(?:{'|'.join(KINDS)})s?[ \u00a0]{NUMBER}(?:{AND}{NUMBER})*"
REFERENCE = re.compile(f"({THEIRS})|({OURS})")


def slug(heading):
    "The anchor JupyterLab gives a heading."
    return heading.strip().replace(" ", "-")


def head(p):
    "The first part of a paragraph that is not empty."
    return next((c for c in p.children if c.astext()), None)


# -- the numbered things --------------------------------------------------------------------------
class Book(Domain):
    "Numbered equations and statements: where each is, and what the search shows for it."

    name, label = "book", "Book"
    object_types = {k.lower(): ObjType(k) for k in ["Equation", *KINDS]}
    initial_data = dict(numbered={})

    def note(self, kind, number, id, node, name=""):
        key = f"({number})" if kind == "Equation" else f"{kind} {number}"
        if key in self.numbered:
            log.warning(
                "%s is stated twice, here and on the page %s",
                key,
                self.numbered[key][0],
                location=node,
            )
        self.numbered.setdefault(
            key, (self.env.docname, id, kind.lower(), f"{key} ({name})" if name else key)
        )

    @property
    def numbered(self):
        return self.data["numbered"]

    def clear_doc(self, docname):
        for k in [k for k, v in self.numbered.items() if v[0] == docname]:
            del self.numbered[k]

    def merge_domaindata(self, docnames, other):
        self.numbered.update({k: v for k, v in other["numbered"].items() if v[0] in docnames})

    def get_type_name(self, type, primary=False):
        return type.lname

    def resolve_any_xref(self, *a):
        return []

    def get_objects(self):
        for key, (doc, id, kind, shown) in self.numbered.items():
            yield key, shown, kind, doc, id, 1


def goes_on(block, after):
    """Does a statement whose last part is `block` go on with the block `after`?

    It does while its sentence does.
    """
    if isinstance(after, nodes.math_block):
        return not isinstance(block, nodes.math_block)
    if isinstance(after, (nodes.bullet_list, nodes.enumerated_list)):
        return block.astext().rstrip().endswith((":", ","))
    if not isinstance(after, nodes.paragraph) or STATED.match(after.astext()):
        return False
    open_end = isinstance(block, nodes.math_block) and not TAG.sub("", block.astext()).rstrip(
        " \n\\]"
    ).endswith(".")
    return (
        open_end
        or isinstance(head(after), nodes.emphasis)
        and after.astext() == head(after).astext()
    )


class Numbers(SphinxTransform):
    "Register what has a number, box statements, and give display mathematics to MathJax as typed."

    default_priority = 400

    def apply(self):
        for n in list(self.document.findall(nodes.math_block)):
            self.equation(n)
        for n in list(self.document.findall(nodes.paragraph)):
            self.statement(n)

    def equation(self, n):
        tex = n.astext()
        for tag in TAG.findall(tex):
            if not re.fullmatch(NUMBER, tag):
                log.warning("(%s): a number that is not understood", tag, location=n)
            self.anchor(n, "Equation", tag, n)
        n["no-wrap"] = True
        n.children = [nodes.Text(f"\\[{tex}\\]")]  # else Sphinx adds `split`, in which \tag fails

    def statement(self, p):
        if not isinstance(first := head(p), nodes.strong):
            return
        if m := CAPTION.match(first.astext()):
            p["classes"] += ["captioned", m[1].lower()]
        m = STATED.match(first.astext())
        if not m:
            if NUMBERED.match(first.astext()):
                log.warning("%s: a number that is not understood", first.astext(), location=p)
            return
        name = NAMED.match(p.astext())
        if m[1] in BOXED:
            box, i = nodes.container(classes=["statement", m[1].lower()]), p.parent.index(p)
            parts, siblings = [p], p.parent.children[i + 1 :]
            while siblings and goes_on(parts[-1], siblings[0]):
                parts.append(siblings.pop(0))
            p.parent[i : i + len(parts)] = [box]
            box += parts
        else:
            box = p
            p["classes"] += ["captioned" if m[1] in ("Figure", "Table") else "remark", m[1].lower()]
        for number in filter(None, m.groups()[1:]):
            self.anchor(box, m[1], number, p, name[2] if name else "")

    def anchor(self, node, kind, number, at, name=""):
        id = f"{kind.lower()}-{number.replace('.', '-')}"
        self.env.domains["book"].note(kind, number, id, at, name)
        if id not in self.document.ids:
            node["ids"].append(id)
            self.document.ids[id] = node


# -- links ----------------------------------------------------------------------------------------
class Links(SphinxPostTransform):
    "`(2.8)`, `Theorem 2.1` and code spans that name something public become links."

    default_priority = 5
    CLOSED = (
        nodes.reference,
        nodes.title,
        nodes.literal,
        nodes.literal_block,
        nodes.math,
        nodes.math_block,
        nodes.raw,
    )

    def run(self):
        texts = [] if self.unnumbered() else list(self.document.findall(nodes.Text))
        for t in texts:
            if not self.closed(t):
                self.numbers(t)
        names = named(self.env)
        for n in list(self.document.findall(nodes.literal)):
            if n.get("classes") or n.get("language") or self.closed(n):
                continue
            found = names.get(n.astext().removesuffix("()"), [])
            if len(found) == 1:
                n.replace_self(self.link(*found[0], n.deepcopy()))

    def unnumbered(self):
        "Does the page say that numbers in its brackets are none of equations?"
        return "unnumbered" in self.env.metadata[self.env.docname]

    def closed(self, node):
        "Inside a link, a heading, code, or the very words that state the numbered thing?"
        p = node.parent
        if isinstance(p, nodes.strong) and STATED.match(p.astext()) and head(p.parent) is p:
            return True
        while p is not None and not isinstance(p, self.CLOSED):
            p = p.parent
        return p is not None

    def numbers(self, t):
        s, out, end = str(t), [], 0
        numbered = self.env.domains["book"].numbered
        for m in REFERENCE.finditer(s):
            if m[1]:
                continue
            kind = (
                None
                if m[0][0] == "("
                else STATED.match(m[0].replace("\u00a0", " ").replace("s ", " ", 1))[1]
            )
            for i, n in enumerate(re.finditer(NUMBER, m[0])):
                key = f"{kind} {n[0]}" if kind else f"({n[0]})"
                if key not in numbered:
                    log.warning("%s is referred to but nowhere stated", key, location=t.parent)
                    continue
                a, b = (
                    m.start() if i == 0 else m.start() + n.start(),
                    m.end() if not kind else m.start() + n.end(),
                )
                doc, id, _, shown = numbered[key]
                out += [nodes.Text(s[end:a]), self.link(doc, id, shown, nodes.Text(s[a:b]))]
                end = b
        if out:
            t.parent.replace(t, [*out, nodes.Text(s[end:])])

    def link(self, doc, id, title, child):
        uri = (
            f"#{id}"
            if doc == self.env.docname
            else f"{self.app.builder.get_relative_uri(self.env.docname, doc)}#{id}"
        )
        return nodes.reference("", "", child, internal=True, refuri=uri, reftitle=title)


def endings(full, last=1):
    """The endings of a full name that keep its `last` parts."""
    parts = full.split(".")
    return (".".join(parts[i:]) for i in range(len(parts) - last + 1))


def named(env):
    """What code spans may name, as `{code span: [(page, anchor, title)]}`.

    Functions and classes go by any ending of their full name, members by `Class.member`: those of
    the reference first, then those that a cell of a page defines.
    """
    public, defined = {}, {}
    for full, o in env.domains["py"].objects.items():
        last = 2 if o.objtype in ("method", "property", "attribute") else 1
        for name in endings(full, last):
            public.setdefault(name, []).append((o.docname, o.node_id, full))
    for full, (page, anchor) in reference.CELLS.items():
        # helpers of the experiments have names that other pages use for other things
        for name in endings(full, 2 if ".studies." in full else 1):
            defined.setdefault(name, []).append((page, anchor, full))
    return defined | public


class OneId(SphinxPostTransform):
    "The theme wraps equations and tables in boxes that repeat their ids: keep those of the box."

    default_priority, formats = 600, ("html",)

    def run(self):
        for n in self.document.findall(nodes.container):
            if {"math-wrapper", "table-wrapper"} & set(n.get("classes", [])):
                n[0]["ids"] = []


# -- MathJax --------------------------------------------------------------------------------------
MATHJAX, SHA256 = (
    "tex-svg-full.js",
    "a4354ff94fd868aea0cc6eaaa79a57fda0588646fc46ee3700a349ee0a11cbe6",
)  # version 3.2.2, in one file


def add_mathjax(app):
    "Copy MathJax into the site, so that pages ask no other host for it."
    js = Path(
        distribution("sphinx-mathjax-offline").locate_file(
            f"sphinx-mathjax-offline/static/mathjax/{MATHJAX}"
        )
    ).read_bytes()
    if hashlib.sha256(js).hexdigest() != SHA256:
        raise RuntimeError(f"{MATHJAX} is not that of MathJax 3.2.2")
    out = Path(app.outdir) / "_static/mathjax"
    out.mkdir(parents=True, exist_ok=True)
    (out / MATHJAX).write_bytes(js)


# -- what other programs read ---------------------------------------------------------------------
def described(app, page, template, context, doctree):
    """Description and title of a page for search engines and previews: its opening sentence."""
    quoted = doctree.next_node(nodes.block_quote) if doctree else None
    sentence = escape(" ".join(quoted.astext().split())) if quoted else ""
    title = escape(re.sub(r"<[^>]+>", "", context.get("title", "")))
    tags = [("property", "og:type", "article"), ("property", "og:title", title)]
    tags += [("property", "og:site_name", escape(app.config.project))]
    if sentence:
        tags += [("name", "description", sentence), ("property", "og:description", sentence)]
    lines = (f'<meta {kind}="{name}" content="{words}">' for kind, name, words in tags)
    context["metatags"] = "\n".join(lines)  # docutils would state the viewport a second time


def sitemap(app, failed):
    """A list of all pages for search engines, where the address of the site is known."""
    base = app.config.html_baseurl
    if base and not failed and app.builder.name == "html":
        urls = (f"<url><loc>{base}{p}.html</loc></url>" for p in sorted(app.env.found_docs))
        head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        text = "\n".join(['<?xml version="1.0" encoding="utf-8"?>', head, *urls, "</urlset>"])
        (Path(app.outdir) / "sitemap.xml").write_text(text + "\n", encoding="utf-8")


def setup(app):
    app.connect("html-page-context", described)
    app.connect("build-finished", sitemap)
    app.add_domain(Book)
    app.add_transform(Numbers)
    app.add_post_transform(Links)
    app.add_post_transform(OneId)
    app.connect("builder-inited", add_mathjax)
    return dict(parallel_read_safe=True, parallel_write_safe=True, env_version=1)
