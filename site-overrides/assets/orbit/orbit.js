/* What pages gain where scripts run; every page is complete without it. */
(() => {
  "use strict";
  const form = document.querySelector("[data-orbit-lookup]");
  if (!form) return;
  const input = form.querySelector("input");
  const said = form.querySelector("output");
  form.hidden = false;
  const wanted = location.pathname.split("/").filter(Boolean).pop();
  if (wanted && /^[\w.-]{3,}$/.test(wanted)) input.value = decodeURIComponent(wanted);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const id = input.value.trim();
    const root = new URL(form.dataset.orbitRoot, location);
    const answer = await fetch(new URL(form.dataset.orbitLookup, location));
    const held = (await answer.json()).records;
    const same = (name) => name.toLowerCase() === id.toLowerCase();
    const found = held.filter((record) => same(record.id) || record.legacy_ids.some((name) => same(name) || same(name.split("/").pop())));
    if (found.length === 1) location.assign(new URL(found[0].url, root));
    else said.textContent = found.length ? `${found.length} records have had this id: ${found.map((one) => one.id).join(", ")}` : "No record has or had this id.";
  });
})();

/* The search box finds records too: their rows are fetched at the first letter and stand above the pages found. */
(() => {
  "use strict";
  const MOST = 8;
  const input = document.querySelector("[data-md-component=search-query]");
  const result = document.querySelector("[data-md-component=search-result]");
  const config = document.getElementById("__config");
  if (!input || !result || !config) return;
  const root = new URL(`${JSON.parse(config.textContent).base.replace(/\/+$/, "")}/`, location); // on 404.html the base is "/"
  const made = (tag, css, ...inside) => {
    const element = document.createElement(tag);
    if (css) element.className = css;
    element.append(...inside);
    return element;
  };
  let loading = null;
  const loaded = () =>
    (loading ??= fetch(new URL("search/records.json", root))
      .then((answer) => answer.json())
      .then((rows) => rows.map((row) => ({ row, id: row[0].toLowerCase(), title: row[1].toLowerCase(), all: [row[0], row[1], row[5], row[6]].join("\n").toLowerCase() })))
      .catch(() => []));
  const weight = ({ id, title }, words) =>
    words.reduce((sum, word) => sum + (id === word ? 100 : 0) + (title.startsWith(word) ? 4 : 0) + (title.includes(word) ? 3 : 0) + (id.includes(word) ? 2 : 0), 0);
  const find = (records, words) =>
    records
      .filter(({ all }) => words.every((word) => all.includes(word)))
      .map((record, place) => ({ record, place, weight: weight(record, words) }))
      .sort((one, other) => other.weight - one.weight || one.place - other.place);
  const item = ({ record: { row } }) => {
    const [id, title, url, word, css, , lead] = row;
    const link = made("a", "orbit-hit", made("b", "", `${id} ${title} `), made("span", `orbit-chip ${css}`, word), made("small", "", lead));
    link.href = new URL(url, root);
    return made("li", "", link);
  };
  const box = made("div", "orbit-hits");
  result.before(box);
  const show = async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      box.replaceChildren();
      return;
    }
    const found = find(await loaded(), words);
    if (words.join(" ") !== input.value.toLowerCase().split(/\s+/).filter(Boolean).join(" ")) return;
    const said = made("div", "orbit-hits-count", found.length === 1 ? "1 record" : `${found.length} records`);
    box.replaceChildren(...(found.length ? [said, made("ol", "", ...found.slice(0, MOST).map(item))] : []));
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  if (new URLSearchParams(location.search).get("q")) setTimeout(show, 100);
})();
