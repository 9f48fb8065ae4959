/* What pages gain where scripts run; every page is complete without it. */
/* A key opens the search box, whose code is loaded apart; a page that is read from a file can't load it. */
(() => {
  "use strict";
  const input = document.querySelector(".md-search[role=search] input");
  if (!input || !location.protocol.startsWith("http")) return;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !["/", "s", "f"].includes(event.key)) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  // A site over many repositories has a search of another kind, which took the mark away.
  if (input.closest("[data-orbit-search]")) import(new URL("searchbox.js", document.currentScript.src));
})();

/* The navigation marks the list that a page is in: the nearest one that it names. */
(() => {
  "use strict";
  const lists = document.querySelector("[data-orbit-lists]")?.dataset.orbitLists.split(" ") ?? [];
  const links = [...document.querySelectorAll(".md-nav--primary .md-nav__link[href]")];
  const find = (list) => links.find((link) => link.getAttribute("href") === list);
  const nearest = lists.map(find).find((link) => link);
  nearest?.classList.add("md-nav__link--active");
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
    const table = box.querySelector("table"); // the theme's padding around a table hides nothing
    const hidden = table && table.offsetWidth <= box.clientWidth ? 0 : box.scrollWidth - box.clientWidth;
    box.classList.toggle("orbit-more-before", hidden > 1 && left > 1);
    box.classList.toggle("orbit-more-after", hidden - left > 1);
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

/* The theme puts the buttons of each block of code into a landmark, and none of these has a name. */
(() => {
  "use strict";
  const unmark = () => document.querySelectorAll("nav.md-code__nav").forEach((nav) => (nav.role = "presentation"));
  new MutationObserver(unmark).observe(document.body, { childList: true, subtree: true });
  unmark();
})();

/* A record's page offers its own address and id to copy. */
(() => {
  "use strict";
  if (!navigator.clipboard) return;
  const offer = (list, words, text) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text());
      button.textContent = orbitWords.word("copy.done");
      setTimeout(() => (button.textContent = words), 1500);
    });
    const item = document.createElement("li");
    item.append(button);
    list.append(item);
  };
  for (const list of document.querySelectorAll(".orbit-actions")) {
    offer(list, orbitWords.word("copy.link"), () => location.href.split("#")[0]);
    const id = list.parentElement.querySelector(".orbit-meta b")?.textContent;
    if (id) offer(list, orbitWords.word("copy.id"), () => id);
  }
})();

/* Diagrams are drawn by a script that only pages with one load. */
if (document.querySelector(".orbit-diagram")) import("./diagrams.js");

/* The log next to a decision has its neighbours; it gets all decisions when it is scrolled or entered. */
(() => {
  "use strict";
  const log = document.querySelector("[data-orbit-log]");
  const box = log?.closest(".md-sidebar__scrollwrap");
  if (!box || !location.protocol.startsWith("http")) return;
  const events = ["wheel", "touchmove", "focusin", "pointerenter"];
  const entry = ([id, title, , css, word, url], base) => {
    const link = document.createElement("a");
    const name = document.createElement("b");
    name.textContent = id;
    link.append(name, ` ${title}`);
    link.className = css;
    link.title = word;
    link.href = new URL(url, base);
    return link;
  };
  const fill = async () => {
    events.forEach((name) => box.removeEventListener(name, fill));
    const base = new URL(log.dataset.orbitLog, location);
    const answer = await fetch(base);
    if (!answer.ok) return;
    const here = log.querySelector(".orbit-here");
    const top = here.getBoundingClientRect().top;
    const links = new Map([...log.querySelectorAll("a[class]")].map((link) => [link.href, link]));
    const list = document.createDocumentFragment();
    let year = "";
    for (const row of await answer.json()) {
      const item = document.createElement("li");
      if (row[2] && row[2] !== year) {
        const heading = document.createElement("li");
        heading.className = "orbit-year";
        heading.textContent = year = row[2];
        list.append(heading);
      }
      const address = new URL(row[5], base).href;
      const isHere = address === location.href.split(/[?#]/)[0];
      item.append(isHere ? here : links.get(address) ?? entry(row, base));
      list.append(item);
    }
    log.querySelector("ul").replaceChildren(list);
    box.scrollTop += here.getBoundingClientRect().top - top;
  };
  events.forEach((name) => box.addEventListener(name, fill, { passive: true }));
})();
