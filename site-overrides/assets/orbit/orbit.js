/* What pages gain where scripts run; every page is complete without it. */
(() => {
  "use strict";
  const form = document.querySelector("[data-orbit-lookup]");
  if (!form) return;
  const input = form.querySelector("input");
  const said = form.querySelector("output");
  form.hidden = false;
  const wanted = location.pathname.split("/").filter(Boolean).pop();
  if (wanted && /^[\w.-]{3,}$/.test(wanted) && !wanted.endsWith(".html")) input.value = decodeURIComponent(wanted);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const id = input.value.trim();
    const root = new URL(form.dataset.orbitRoot, location);
    const answer = await fetch(new URL(form.dataset.orbitLookup, location));
    const held = (await answer.json()).records;
    const same = (name) => name.toLowerCase() === id.toLowerCase();
    const found = held.filter((record) => same(record.id) || record.legacy_ids.some((name) => same(name) || same(name.split("/").pop())));
    if (found.length === 1) location.replace(new URL(found[0].url, root)); // so that the way back does not lead here again
    else said.textContent = found.length ? `${found.length} records have had this id: ${found.map((one) => one.id).join(", ")}` : "No record has or had this id.";
  });
  if (input.value && location.pathname.includes("/legacy/")) form.requestSubmit(); // an earlier name that has no page
})();

/* The search box finds records too: what finds them is fetched when the page is done and nothing else is, or the box gets the focus; they are above the pages found. What words weigh is fetched as they are typed. */
(() => {
  "use strict";
  const MOST = 8;
  const input = document.querySelector("[data-md-component=search-query]");
  const result = document.querySelector("[data-md-component=search-result]");
  const config = document.getElementById("__config");
  if (!input || !result || !config) return;
  input.closest("[role=dialog]")?.setAttribute("aria-label", "Search"); // the theme leaves its dialog without a name
  const root = new URL(`${JSON.parse(config.textContent).base.replace(/\/+$/, "")}/`, location); // on 404.html the base is "/"
  const made = (tag, css, ...inside) => {
    const element = document.createElement(tag);
    if (css) element.className = css;
    element.append(...inside);
    return element;
  };
  const read = async (path) => (await fetch(new URL(path, root))).json();
  let loading = null;
  const loaded = () =>
    (loading ??= Promise.all([read("search/records.json"), import(new URL("assets/orbit/search.js", root))])
      .then(([held, { finder }]) => ({ held, find: finder(held, read) }))
      .catch(() => (loading = null)));
  const item = ({ records, looks }, row) => {
    const [id, title, url, look, line, heirs = []] = records[row];
    const [own, css] = looks[look];
    const word = heirs.length ? `replaced by ${heirs.map((heir) => records[heir][0]).join(", ")}` : own;
    const link = made("a", "orbit-hit", made("b", "", `${id} ${title} `), made("span", `orbit-chip ${css}`, word), made("small", "", line));
    link.href = new URL(url, root);
    return made("li", "", link);
  };
  const drawn = new Map(); // of each record its hit, which stays the same: one drawn anew loses a click that is under way
  const box = made("div", "orbit-hits");
  result.before(box);
  const show = async () => {
    const arriving = loaded(); // when the box has the focus, before the first letter
    const typed = input.value;
    const known = typed.trim() ? await arriving : null;
    const { number, rows } = known ? await known.find(typed, MOST) : { number: 0, rows: [] };
    if (typed !== input.value) return;
    const said = made("div", "orbit-hits-count", number === 1 ? "1 record" : `${number} records`);
    const items = rows.map((row) => drawn.get(row) ?? drawn.set(row, item(known.held, row)).get(row));
    box.replaceChildren(...(number ? [said, made("ol", "", ...items)] : []));
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  for (const way of document.querySelectorAll("[data-md-component=search], label[for=__search]")) way.addEventListener("pointerenter", loaded);
  const ahead = location.protocol.startsWith("http") && !navigator.connection?.saveData;
  if (ahead) addEventListener("load", () => (window.requestIdleCallback ?? setTimeout)(loaded));
  if (new URLSearchParams(location.search).get("q")) setTimeout(show, 100);
})();

/* A citation shows what it leads to: while the pointer rests on it or on the preview, or it has the focus; Escape hides it. */
(() => {
  "use strict";
  const REST = 180;
  let link = null, card = null, timer = 0;
  const hide = () => {
    clearTimeout(timer);
    if (link && card) link.title = link.dataset.title || "";
    card?.remove();
    link = card = null;
  };
  const show = (wanted) => {
    if (wanted === link && card) return clearTimeout(timer);
    const held = document.getElementById(wanted.getAttribute("aria-describedby") || "");
    hide();
    if (!held) return;
    link = wanted;
    link.dataset.title = link.title;
    link.title = "";
    card = held.cloneNode(true);
    card.removeAttribute("id");
    card.classList.add("orbit-shown", "md-typeset");
    card.setAttribute("aria-hidden", "true"); // readers have it as the link's description
    document.body.append(card);
    const line = [...link.getClientRects()][0] ?? link.getBoundingClientRect();
    const below = line.bottom + card.offsetHeight + 8 < innerHeight || line.top < card.offsetHeight + 8;
    card.style.left = `${scrollX + Math.max(8, Math.min(line.left, document.documentElement.clientWidth - card.offsetWidth - 8))}px`;
    card.style.top = `${scrollY + (below ? line.bottom + 4 : line.top - card.offsetHeight - 4)}px`;
    card.addEventListener("pointerenter", () => clearTimeout(timer));
    card.addEventListener("pointerleave", later);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, REST);
  };
  const cited = (event) => (event.target instanceof Element ? event.target.closest("a.orbit-cite") : null);
  document.addEventListener("pointerover", (event) => {
    const found = event.pointerType === "touch" ? null : cited(event);
    if (!found) return;
    clearTimeout(timer);
    timer = setTimeout(show, link ? 0 : REST, found);
  });
  document.addEventListener("pointerout", (event) => cited(event) && later());
  document.addEventListener("focusin", (event) => (cited(event) ? show(cited(event)) : hide()));
  document.addEventListener("focusout", (event) => cited(event) && later());
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
})();

/* What scrolls sideways can be scrolled by keyboard too, and fades at an end beyond which there is more. */
(() => {
  "use strict";
  const fade = ({ currentTarget: box }) => {
    const left = Math.abs(box.scrollLeft);
    box.classList.toggle("orbit-more-before", left > 1);
    box.classList.toggle("orbit-more-after", box.scrollWidth - box.clientWidth - left > 1);
  };
  const mark = () => {
    for (const box of document.querySelectorAll(".orbit-scroll, .md-typeset__scrollwrap")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
      box.addEventListener("scroll", fade, { passive: true });
      fade({ currentTarget: box });
    }
  };
  addEventListener("load", mark);
  addEventListener("resize", mark);
})();
