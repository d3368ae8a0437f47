// Small things that style sheets cannot do. Deferred: runs when the page is parsed, before the search starts.

// Search: what is asked for by its number or its name comes first, then classifiers, guides and tutorials. A page opened as a file may not read others: no excerpts then.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
if (typeof Scorer !== "undefined") {
  const words = s => s.toLowerCase().replace(/[()`\s]+/g, " ").trim();
  const asked = words(new URLSearchParams(location.search).get("q") || "");
  const place = page => /^api\/[A-Z]/.test(page) ? 14 : /^pages\/(?!gallery)/.test(page) ? 10 : page.startsWith("tutorials/") ? 12 : page.startsWith("api/") ? -3 : 0;
  const name_of = ([page, title, , , score, , kind]) => {
    const name = words(title), [, number] = name.split(" ");
    if (kind === "title" && name === asked) return score + 60 + place(page);
    if (kind !== "object") return score + place(page);
    if (name === asked || name.split(".").pop() === asked) return score + 100 + place(page);
    return score + (name.startsWith(asked + " ") ? 90 : number === asked ? 80 : 0) + place(page);
  };
  Scorer.score = result => asked ? name_of(result) : result[4];
  // Excerpts show words, not the source of formulas.
  if (typeof Search !== "undefined" && Search.htmlToText) {
    const plain = Search.htmlToText.bind(Search);
    Search.htmlToText = (html, anchor) => plain(html, anchor)
      .replace(/\\\[[^]*?\\\]|\\\([^]*?\\\)/g, " … ").replace(/\s+/g, " ");
  }
}

// Mathematics that is too wide: a displayed formula shrinks to three quarters if that makes it fit, else it scrolls; one within a line scrolls by itself.
// Where it scrolls, its number would be out of sight: it then stands above.
const number = m => {
  const wrapper = m.closest(".math-wrapper");
  if (!wrapper) return;
  const ids = [wrapper, ...wrapper.querySelectorAll("[id]")].map(e => e.id.match(/^equation-(.+)/)?.[1]);
  const numbers = ids.filter(Boolean).map(id => `(${id.replace("-", ".")})`).join(" ");
  if (m.parentElement.scrollWidth > m.parentElement.clientWidth + 1) wrapper.dataset.number = numbers;
  else delete wrapper.dataset.number;
};
const fit = () => {
  for (const m of document.querySelectorAll("article mjx-container[display]")) {
    m.style.removeProperty("font-size");
    const box = m.parentElement, size = parseFloat(getComputedStyle(m).fontSize), share = box.clientWidth / box.scrollWidth;
    if (share < 1) m.style.setProperty("font-size", `${size * (share > .75 ? share - .005 : .9)}px`, "important");
    number(m);
  }
  for (const m of document.querySelectorAll("article mjx-container:not([display])")) {
    m.classList.remove("wide");
    const room = m.closest("p, li, td, th, dd, summary, h1, h2, h3, h4")?.clientWidth;
    if (room && m.getBoundingClientRect().width > room) m.classList.add("wide");
  }
};
addEventListener("load", () => window.MathJax?.startup?.promise?.then(fit));
addEventListener("resize", fit);
document.addEventListener("toggle", fit, true);      // a proof unfolds

// In the dark a picture's light and dark change places, but where its caption names one of them it stays as it was drawn.
for (const words of document.querySelectorAll("p.captioned.figure, a.card > span"))
  words.previousElementSibling?.classList.toggle("as-drawn", /\b(black|white|dark(er)?|light(er)?)\b/i.test(words.textContent));

// Pictures for some values of a parameter: a slider chooses the one to be seen.
for (const box of document.querySelectorAll(".frames")) {
  const pictures = [...box.querySelectorAll("img")], line = document.createElement("label");
  const slider = document.createElement("input"), value = document.createElement("output");
  slider.type = "range";
  slider.max = pictures.length - 1;
  slider.value = pictures.findIndex(p => p.classList.contains("shown"));
  const show = () => {
    pictures.forEach((p, i) => p.classList.toggle("shown", i === +slider.value));
    value.value = pictures[slider.value].dataset.value;
    slider.setAttribute("aria-valuetext", value.value);
  };
  slider.addEventListener("input", show);
  line.append(`${box.dataset.name} `, slider, " ", value);
  box.prepend(line);
  show();
}

// Paper: unfold the proofs.
let folded = [];
addEventListener("beforeprint", () => { folded = [...document.querySelectorAll("details:not([open])")]; folded.forEach(d => d.open = true); });
addEventListener("afterprint", () => folded.forEach(d => d.open = false));
