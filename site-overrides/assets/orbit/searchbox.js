/* The search box in the header, the page of results and the page for a missing address; search.js finds, this draws. */
import { finder, placesIn, titleWords } from "./search.js";

const { orbitWords } = globalThis;
const MOST = { records: 10, pages: 5 };
const STEP = 20; // hits that the page of results shows at once
const SNIPPET = 150;
const LONGEST = 200_000; // characters of a page that are looked at
const PAUSE = 120; // milliseconds without a key before pages are read for what is around a hit
const HEADINGS = "h1, h2, h3, h4, h5, h6";
const STATUS = /^\s*status\s*¶?\s*$/i; // its section lists days; the hit has the status next to its title
const NO_TEXT = `${HEADINGS}, script, style, nav, svg, [hidden], .orbit-empty`;
const BLOCKS = "p, li, dt, dd, td, th, pre, div, blockquote";
const made = (tag, css, ...inside) => {
  const element = document.createElement(tag);
  if (css) element.className = css;
  element.append(...inside);
  return element;
};
const read = async (address) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer;
};
const once = (make) => {
  let promise = null;
  const retry = (error) => {
    promise = null;
    throw error;
  };
  return () => (promise ??= make().catch(retry));
};
const urlOf = ({ looks }, [id, , look, , url]) => url ?? `${looks[look].folder}${id}/`;

/* Returns a text as nodes, with each piece marked that the question finds. */
const marked = (text, isHit) =>
  text.split(/([\p{L}\p{N}\p{M}_]+)/u).map((part, at) => (at % 2 && isHit(part) ? made("mark", "", part) : part));

/* Returns the part of a text that has an identifier of the query, or most hits; all of a short one. */
const around = (text, isHit, query) => {
  const known = new Map(); // a long text repeats its words
  const isMarked = (piece) => known.get(piece) ?? known.set(piece, isHit(piece)).get(piece);
  const exact = placesIn(text, query);
  const hits = exact.length ? exact : [...text.matchAll(/[\p{L}\p{N}\p{M}_]+/gu)].filter(([piece]) => isMarked(piece)).map(({ index }) => index);
  let best = hits[0] ?? 0, most = 0;
  for (let first = 0, last = 0; first < hits.length; first++) {
    while (last < hits.length && hits[last] < hits[first] + SNIPPET) last++;
    if (last - first > most) [best, most] = [hits[first], last - first];
  }
  const last = text.length > SNIPPET ? text.indexOf(" ", text.length - SNIPPET) + 1 : 0; // from there the rest fits
  const start = best < SNIPPET / 2 ? 0 : Math.min(text.indexOf(" ", best - 30) + 1, last);
  const cut = text.slice(start, start + SNIPPET + 1);
  return `${start ? "…" : ""}${cut.length > SNIPPET ? `${cut.replace(/\s+\S{0,30}$/, "")}…` : cut.trim()}`; // no part of a word
};

/* Returns the text of a page, or of its section below a heading; it is parsed and never shown as HTML. */
const pages = new Map();
const textOf = async (address) => {
  const [page, anchor] = address.href.split("#");
  if (!pages.has(page)) pages.set(page, read(page).then((answer) => answer.text()).then((html) => new DOMParser().parseFromString(html, "text/html")));
  const found = await pages.get(page);
  const article = [".orbit-prose", "article", "main", "body"].map((name) => found.querySelector(name)).find(Boolean);
  const heading = anchor ? found.getElementById(decodeURIComponent(anchor)) : null;
  const parts = [];
  for (let next = heading?.nextElementSibling ?? null; next && !next.matches(HEADINGS); next = next.nextElementSibling) parts.push(next);
  const texts = (parts.length ? parts : [article]).map((part) => {
    const copy = part.cloneNode(true);
    for (const heading of [...copy.querySelectorAll(HEADINGS)].filter((each) => STATUS.test(each.textContent)))
      while (heading.nextElementSibling && !heading.nextElementSibling.matches(HEADINGS)) heading.nextElementSibling.remove();
    copy.querySelectorAll(NO_TEXT).forEach((element) => element.remove());
    copy.querySelectorAll(BLOCKS).forEach((element) => element.append(" "));
    return copy.textContent;
  });
  return texts.join(" ").slice(0, LONGEST).split(/\s+/).filter(Boolean).join(" ");
};

/* Returns what reads the data of the search: of titles alone, and of all texts. */
const openData = (box) => {
  const data = new URL(box.dataset.orbitSearch, location);
  const json = (name) => read(new URL(name, data)).then((answer) => answer.json());
  const found = (records, words) => ({ records, words, find: finder(records, words) });
  const load = once(() => json("titles.json"));
  const ofTitles = once(() => load().then((records) => found(records, titleWords(records))));
  const readSentences = once(async () => new Map((await json("../records.json")).records.map(({ id, sentence }) => [id, sentence])));
  const ready = once(async () => {
    const [records, words, sentences] = await Promise.all([load(), json("words.json"), readSentences().catch(() => new Map())]);
    return { ...found(records, words), sentences };
  });
  return { root: new URL("..", data), results: (text) => new URL(`?q=${encodeURIComponent(text.trim())}`, data), load, ofTitles, ready };
};

/* Returns the hits for a text: functions that make the links to pages and to records, what is said of them, and what marks words. */
const hitsOf = (text, { records: { records, looks }, words: { pages: manual }, find, sentences = new Map() }, root) => {
  const isHit = find.marker(text);
  const link = (url, title, chip = [], sentence = "") => {
    const line = sentence ? made("small", "orbit-sentence", ...marked(sentence, isHit)) : "";
    const element = made("a", "orbit-hit", made("b", "", ...title), ...chip, line, made("small", ""));
    element.href = new URL(url, root);
    return element;
  };
  const pages = find.pages(text).map((slot) => () => {
    const [page, anchor, heading] = manual.sections[slot];
    const [url, title] = manual.pages[page];
    return link(anchor ? `${url}#${anchor}` : url, marked(heading === title ? title : `${title} › ${heading}`, isHit));
  });
  const rows = find.records(text).map((row) => () => {
    const [id, title, look, heirs = []] = records[row];
    const { word, css } = looks[look];
    const later = heirs.length ? ` ${orbitWords.word("box.by", { ids: heirs.map((heir) => records[heir][0]).join(", ") })}` : "";
    return link(urlOf({ looks }, records[row]), marked(`${id} ${title}`, isHit), [" ", made("span", `orbit-chip ${css}`, word + later)], sentences.get(id));
  });
  const counts = [rows.length && orbitWords.counted("box.record", rows.length), pages.length && orbitWords.counted("box.page", pages.length)].filter(Boolean);
  const corrected = counts.length ? [...find.corrected(text)].map(([word, right]) => orbitWords.word("box.corrected", { word, right })) : [];
  const snippet = async (element) => {
    const content = await textOf(new URL(element.href)).catch(() => "");
    if (element.isConnected) element.querySelector("small:last-child").replaceChildren(...marked(around(content, isHit, text), isHit));
  };
  const groups = [{ name: "records", makers: rows }, { name: "pages", makers: pages }].filter(({ makers }) => makers.length);
  return {
    groups,
    summary: [counts.join(", ") || orbitWords.word("box.nothing", { text: text.trim() }), ...corrected].join(": "),
    snippet,
  };
};

const openBox = (box, source) => {
  const input = box.querySelector("input");
  const list = box.querySelector("[role=listbox]");
  const status = box.querySelector("output");
  const toggle = document.getElementById("__search");
  let full = null, active = -1, shown = "", timer = 0;
  const ready = async () => (full = await source.ready());
  /* Draws the records whose titles the question finds, until the words of all texts are read. */
  const drawTitles = async (text) => {
    const quick = await source.ofTitles();
    if (!full && text === input.value && quick.find.records(text).length) draw(text, quick);
  };
  const options = () => [...list.querySelectorAll("[role=option]")];
  const choose = (number) => {
    const all = options();
    active = number;
    all.forEach((option, at) => option.setAttribute("aria-selected", at === active));
    if (active < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", all[active].id);
    all[active].scrollIntoView({ block: "nearest" });
  };
  const open = (isOpen) => toggle && toggle.checked !== isOpen && toggle.click();

  const group = ({ name: part, links }) => {
    const name = orbitWords.word(`box.${part}`);
    const title = made("div", "orbit-hits-group", name);
    title.setAttribute("role", "presentation");
    const element = made("div", "", title, ...links);
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", name);
    return element;
  };
  const draw = (text, data) => {
    const { groups, summary, snippet } = hitsOf(text, data, source.root);
    const groupsOfLinks = groups.map(({ name, makers }) => ({ name, links: makers.slice(0, MOST[name]).map((make) => make()) }));
    const links = groupsOfLinks.flatMap((each) => each.links);
    const all = made("a", "orbit-hits-all", orbitWords.word("box.all"));
    all.href = source.results(text);
    [...links, all].forEach((link, number) => {
      link.id = `orbit-hit-${number}`;
      link.tabIndex = -1;
      link.setAttribute("role", "option");
    });
    list.replaceChildren(...groupsOfLinks.map(group), ...(links.length ? [all] : []));
    status.textContent = summary;
    choose(-1);
    input.setAttribute("aria-expanded", options().length > 0);
    clearTimeout(timer);
    timer = setTimeout(() => links.forEach(snippet), PAUSE);
  };
  const show = async () => {
    const text = input.value;
    if (!text.trim()) {
      shown = "";
      list.replaceChildren();
      status.textContent = "";
      return input.setAttribute("aria-expanded", false);
    }
    if (text === shown) return;
    shown = text;
    choose(-1);
    try {
      if (!full) drawTitles(text).catch(() => {});
      await ready();
      if (text === input.value && active < 0) draw(text, full);
    } catch {
      shown = "";
      status.textContent = orbitWords.word("box.failed");
    }
  };
  const enter = () => {
    open(true);
    show();
    source.ofTitles().catch(() => {});
  };
  input.addEventListener("focus", enter);
  input.addEventListener("input", show);
  input.form.addEventListener("reset", () => setTimeout(() => (show(), input.focus())));
  input.form.addEventListener("submit", (event) => event.preventDefault());
  toggle?.addEventListener("change", () => (toggle.checked ? input.focus() : input.blur()));
  input.addEventListener("keydown", (event) => {
    const { key } = event;
    const last = options().length - 1;
    if (key === "ArrowDown") choose(active < last ? active + 1 : Math.min(last, 0));
    else if (key === "ArrowUp") choose(active > 0 ? active - 1 : last);
    else if (key === "Enter") (options()[Math.max(active, 0)] ?? input).click();
    else if (key === "Escape") open(false);
    else if (key === "Tab") return open(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  if (document.activeElement === input) enter();
};

/* Fills the page of results with what the address asks for, or what is typed there. */
const openResults = async (element, source) => {
  const form = element.querySelector("form"), status = element.querySelector("[data-orbit-count]"), list = element.querySelector("[data-orbit-found]");
  const text = new URLSearchParams(location.search).get("q") ?? "";
  form.hidden = false;
  element.querySelector("[data-orbit-plain]").hidden = true;
  form.elements.q.value = text;
  leadOn(form, source);
  if (!text.trim()) return form.elements.q.focus();
  document.title = `${text.trim()} - ${document.title}`;
  const step = (makers, links, snippet) => {
    const more = makers.splice(0, STEP).map((make) => make());
    links.append(...more.map((link) => made("li", "", link)));
    more.forEach(snippet);
    return more[0];
  };
  try {
    const { groups, summary, snippet } = hitsOf(text, await source.ready(), source.root);
    status.textContent = summary;
    groups.forEach(({ name, makers }) => {
      const links = made("ol", "orbit-results"), more = made("button", "md-button", orbitWords.word("results.more"));
      list.append(made("h2", "", orbitWords.word(`box.${name}`)), links);
      step(makers, links, snippet);
      if (!makers.length) return;
      more.type = "button";
      more.setAttribute("aria-label", orbitWords.word(`results.more.${name}`));
      more.addEventListener("click", () => {
        step(makers, links, snippet)?.focus();
        more.hidden = !makers.length;
      });
      list.append(more);
    });
  } catch {
    status.textContent = orbitWords.word("box.failed");
  }
};

/* Lets a form lead to the page of results; the policy of pages lets no form send anything. */
const leadOn = (form, source) =>
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.assign(source.results(form.elements.q.value));
  });

/* Shows which records an address that has no page may mean; an earlier id leads on at once. */
const suggest = async (element, source) => {
  const { load, root } = source;
  const titles = await load();
  const segments = decodeURIComponent(location.pathname).toLowerCase().split("/").filter(Boolean).map((name) => name.replace(/\.(?:html?|md)$/, ""));
  const rows = new Set(Object.entries(titles.names).flatMap(([name, numbers]) => (segments.includes(name.split("/").pop()) ? numbers : [])));
  if (rows.size === 1 && segments.includes("legacy")) return location.replace(new URL(urlOf(titles, titles.records[[...rows][0]]), root)); // so that the way back does not lead here again
  titles.records.forEach(([id], row) => {
    const name = id.toLowerCase(), number = name.match(/-(\d+)$/)?.[1];
    const isNamed = (segment) => segment.startsWith(name) || (number && Number(segment.match(/^(?:[a-z]+-)?(\d+)/)?.[1]) === Number(number));
    if (segments.some(isNamed)) rows.add(row);
  });
  const links = [...rows].map((row) => {
    const link = made("a", "", `${titles.records[row][0]} ${titles.records[row][1]}`);
    link.href = new URL(urlOf(titles, titles.records[row]), root);
    return made("li", "", link);
  });
  if (links.length) element.querySelector("ul").replaceChildren(...links);
  element.querySelector("[data-orbit-meant]").hidden = !links.length;
  const form = element.querySelector("form");
  form.hidden = false;
  form.elements.q.value = (segments.at(-1) ?? "").replace(/[-_]+/g, " ");
  leadOn(form, source);
};

const box = document.querySelector("[data-orbit-search]");
const missing = document.querySelector("[data-orbit-missing]");
const results = document.querySelector("[data-orbit-results]");
const asked = new URLSearchParams(location.search).get("q")?.trim();
if (box) {
  const source = openData(box), isThere = source.results(asked ?? "").pathname === location.pathname;
  if (asked && !isThere) location.replace(source.results(asked)); // what is searched for can be linked from any page
  openBox(box, source);
  if (results) openResults(results, source);
  if (missing) suggest(missing, source);
}
