/* The search of a site over many repositories: its index is in parts, of which a question loads those of its words. */
(() => {
  "use strict";
  const box = document.querySelector("[data-orbit-search]");
  if (!box) return;
  const data = new URL("parts/", new URL(box.dataset.orbitSearch, location));
  box.removeAttribute("data-orbit-search"); // the search of one repository reads all at once
  const MOST = 20, LOT = 500, COMPLETED = 0.5; // what a term counts of which only the beginning is typed
  const core = import(new URL("search.js", document.currentScript.src)); // it splits words, and knows their terms
  const loaded = new Map();
  const load = (name) => {
    if (!loaded.has(name)) loaded.set(name, fetch(new URL(name, data)).then((answer) => answer.json()));
    return loaded.get(name);
  };
  const nothing = { terms: {}, words: {} };
  const partOf = async (word) => {
    const bytes = new TextEncoder().encode([...word].slice(0, 2).join(""));
    const name = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const { parts } = await load("about.json");
    return parts.includes(name) ? load(`${name}.json`) : nothing;
  };
  /* Returns the terms that a word may mean, each with what it counts. */
  const meant = async (word, isLast) => {
    const { Texts } = await core, texts = new Texts({ lengths: [], norm: [1, 0], ...(await partOf(word)) }, []);
    const begun = isLast && word.length > 2 ? [...texts.begun(word)] : [];
    const terms = new Map(begun.map((term) => [term, COMPLETED]));
    return terms.set(texts.term(word) ?? word, 1);
  };
  const search = async (text) => {
    const { words } = await core, asked = [...new Set(words(text))], { count } = await load("about.json");
    const scores = new Map();
    for (const [at, word] of asked.entries()) {
      const best = new Map();
      for (const [term, share] of await meant(word, at === asked.length - 1)) {
        const hits = (await partOf(term)).terms[term] ?? [];
        const worth = Math.log1p((count - hits.length + 0.5) / (hits.length + 0.5)) * share;
        for (const [number, weight] of hits) best.set(number, Math.max(best.get(number) ?? 0, weight * worth));
      }
      for (const [number, score] of best) {
        const [has, sum] = scores.get(number) ?? [0, 0];
        scores.set(number, [has + 1, sum + score]);
      }
    }
    return [...scores].sort(([a, [had, sum]], [b, [has, other]]) => has - had || other - sum || a - b).map(([number]) => number);
  };
  const made = (tag, css, ...inside) => {
    const element = document.createElement(tag);
    element.className = css;
    element.append(...inside);
    return element;
  };
  const link = async (number) => {
    const [repository, id, title, url, word, css, sentence] = (await load(`lot-${Math.floor(number / LOT)}.json`))[number % LOT];
    const chip = made("span", `orbit-chip ${css}`, word);
    const element = made("a", "orbit-hit", made("b", "", `${id} ${title}`), " ", chip, made("small", "orbit-sentence", sentence), made("small", "", repository));
    element.href = new URL(url, new URL("../../", data));
    return element;
  };
  const input = box.querySelector("input"), list = box.querySelector("[role=listbox]"), status = box.querySelector("output");
  const toggle = document.getElementById("__search");
  const show = async () => {
    const text = input.value;
    const numbers = text.trim() ? await search(text) : [];
    const links = await Promise.all(numbers.slice(0, MOST).map(link));
    if (text !== input.value) return;
    links.forEach((each) => each.setAttribute("role", "option"));
    list.replaceChildren(...links);
    input.setAttribute("aria-expanded", links.length > 0);
    status.textContent = text.trim() ? orbitWords.counted("box.record", numbers.length) : "";
  };
  const open = (isOpen) => toggle && toggle.checked !== isOpen && toggle.click();
  input.addEventListener("input", show);
  input.addEventListener("focus", () => open(true));
  input.form.addEventListener("submit", (event) => event.preventDefault());
  input.form.addEventListener("reset", () => setTimeout(show));
  input.addEventListener("keydown", (event) => {
    const options = [...list.children], at = options.findIndex((each) => each.ariaSelected === "true");
    const next = { ArrowDown: Math.min(at + 1, options.length - 1), ArrowUp: Math.max(at - 1, 0) }[event.key];
    if (event.key === "Enter") (options[Math.max(at, 0)] ?? input).click();
    else if (event.key === "Escape") open(false);
    else if (next !== undefined) options.forEach((each, number) => each.setAttribute("aria-selected", number === next));
    else return;
    event.preventDefault();
    options[next]?.scrollIntoView({ block: "nearest" });
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    input.focus();
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    input.value = asked;
    input.focus();
    show();
  }
})();
