/* The search of a site over many repositories: its index is in parts, of which a question loads those of its words. */
(() => {
  "use strict";
  const box = document.querySelector("[data-orbit-search]");
  if (!box) return;
  const data = new URL("parts/", new URL(box.dataset.orbitSearch, location));
  box.removeAttribute("data-orbit-search"); // the search of one repository reads all at once
  const MOST = 20, LOT = 500, ENDING = /^(?:s|es|ed|d|ing|er|ly)$/;
  const WORD = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[\p{L}\p{N}]{2,40}/gu;
  const loaded = new Map();
  const load = (name) => {
    if (!loaded.has(name)) loaded.set(name, fetch(new URL(name, data)).then((answer) => (answer.ok ? answer.json() : null)));
    return loaded.get(name);
  };
  const words = (text) => [...new Set(text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().match(WORD) ?? [])];
  const partOf = (word) => [...new TextEncoder().encode([...word].slice(0, 2).join(""))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const isLike = (word, term, isLast) => {
    const [short, long] = word.length < term.length ? [word, term] : [term, word];
    if (!long.startsWith(short)) return false;
    return short === long || (isLast && long === term && word.length > 2) || ENDING.test(long.slice(short.length));
  };
  const search = async (text) => {
    const asked = words(text), { count } = await load("about.json");
    const scores = new Map();
    for (const [at, word] of asked.entries()) {
      const best = new Map();
      for (const [term, hits] of Object.entries((await load(`${partOf(word)}.json`)) ?? {})) {
        if (!isLike(word, term, at === asked.length - 1)) continue;
        const rarity = Math.log(1 + count / hits.length) * (term === word ? 1 : 0.6);
        for (const [number, weight] of hits) best.set(number, Math.max(best.get(number) ?? 0, weight * rarity));
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
