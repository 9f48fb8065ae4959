/* The search box in the header and the page for a missing address; search.js finds, this draws. */
import { finder, titleWords } from "./search.js";

const MOST_RECORDS = 10, MOST_PAGES = 5;
const SNIPPET = 150;
const LONGEST = 200_000; // characters of a page that are looked at
const PAUSE = 120; // milliseconds without a key before pages are read for what is around a hit
const HEADINGS = "h1, h2, h3, h4, h5, h6";
const STATUS = /^\s*status\s*¶?\s*$/i; // its section lists days; the hit has the status next to its title
const NO_TEXT = `${HEADINGS}, script, style, nav, svg, [hidden]`;
const BLOCKS = "p, li, dt, dd, td, th, pre, div, blockquote";
const made = (tag, css, ...inside) => {
  const element = document.createElement(tag);
  if (css) element.className = css;
  element.append(...inside);
  return element;
};
const counted = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
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

/* Returns the part of a text that has most hits; all of a short one. */
const around = (text, isHit) => {
  const known = new Map(); // a long text repeats its words
  const isMarked = (piece) => known.get(piece) ?? known.set(piece, isHit(piece)).get(piece);
  const hits = [...text.matchAll(/[\p{L}\p{N}\p{M}_]+/gu)].filter(([piece]) => isMarked(piece)).map(({ index }) => index);
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

const openBox = (box) => {
  const input = box.querySelector("input");
  const list = box.querySelector("[role=listbox]");
  const status = box.querySelector("output");
  const toggle = document.getElementById("__search");
  const data = new URL(box.dataset.orbitSearch, location);
  const root = new URL("..", data);
  let full = null, sentences = new Map(), active = -1, shown = "", timer = 0;
  const json = (name) => read(new URL(name, data)).then((answer) => answer.json());
  const found = (records, words) => ({ records, words, find: finder(records, words) });
  const load = once(() => json("titles.json"));
  const ofTitles = once(() => load().then((records) => found(records, titleWords(records))));
  const readSentences = once(async () => {
    const { records } = await json("../records.json");
    sentences = new Map(records.map(({ id, sentence }) => [id, sentence]));
  });
  const ready = once(async () => (full = found(...(await Promise.all([load(), json("words.json")])))));
  /* Draws the records whose titles the question finds, until the words of all texts are read. */
  const drawTitles = async (text) => {
    const quick = await ofTitles();
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

  const option = (number, url, title, chip, sentence = []) => {
    const line = sentence.length ? made("small", "orbit-sentence", ...sentence) : "";
    const link = made("a", "orbit-hit", made("b", "", ...title), ...chip, line, made("small", ""));
    link.href = new URL(url, root);
    link.id = `orbit-hit-${number}`;
    link.tabIndex = -1;
    link.setAttribute("role", "option");
    return link;
  };
  const group = (name, links) => {
    const title = made("div", "orbit-hits-group", name);
    title.setAttribute("role", "presentation");
    const element = made("div", "", title, ...links);
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", name);
    return element;
  };
  const draw = (text, { records: { records, looks }, words: { pages: manual }, find }) => {
    const isHit = find.marker(text);
    const sections = find.pages(text), rows = find.records(text);
    const pageLinks = sections.slice(0, MOST_PAGES).map((slot, at) => {
      const [page, anchor, heading] = manual.sections[slot];
      const [url, title] = manual.pages[page];
      const name = heading === title ? title : `${title} › ${heading}`;
      return option(at, anchor ? `${url}#${anchor}` : url, marked(name, isHit), []);
    });
    const recordLinks = rows.slice(0, MOST_RECORDS).map((row, at) => {
      const [id, title, look, heirs = []] = records[row];
      const { word, css } = looks[look];
      const later = heirs.length ? ` by ${heirs.map((heir) => records[heir][0]).join(", ")}` : "";
      const chip = [" ", made("span", `orbit-chip ${css}`, word + later)];
      return option(MOST_PAGES + at, urlOf({ looks }, records[row]), marked(`${id} ${title}`, isHit), chip, marked(sentences.get(id) ?? "", isHit).filter(Boolean));
    });
    const groups = [pageLinks.length ? group("Pages", pageLinks) : "", recordLinks.length ? group("Records", recordLinks) : ""];
    list.replaceChildren(...(find.names(text) ? groups.reverse() : groups));
    const counts = [sections.length && counted(sections.length, "page"), rows.length && counted(rows.length, "record")];
    status.textContent = counts.filter(Boolean).join(", ") || `Nothing found for “${text.trim()}”`;
    choose(-1);
    input.setAttribute("aria-expanded", options().length > 0);
    clearTimeout(timer);
    timer = setTimeout(() => options().forEach((link) => snippet(link, isHit)), PAUSE);
  };
  const snippet = async (link, isHit) => {
    const text = await textOf(new URL(link.href)).catch(() => "");
    if (link.isConnected) link.querySelector("small:last-child").replaceChildren(...marked(around(text, isHit), isHit));
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
      await Promise.all([ready(), readSentences().catch(() => {})]);
      if (text === input.value && active < 0) draw(text, full);
    } catch {
      shown = "";
      status.textContent = "The search could not be loaded.";
    }
  };
  const enter = () => {
    open(true);
    show();
    ofTitles().catch(() => {});
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
  const ask = (text) => {
    input.value = text;
    input.focus();
    show();
  };
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) ask(asked);
  else if (document.activeElement === input) enter();
  return { load, ask, root };
};

/* Shows which records an address that has no page may mean; an earlier id leads on at once. */
const suggest = async (element, { load, ask, root }) => {
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
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(form.elements.q.value);
  });
};

const box = document.querySelector("[data-orbit-search]");
const missing = document.querySelector("[data-orbit-missing]");
const opened = box ? openBox(box) : null;
if (opened && missing) suggest(missing, opened);
