/* The filter above an index: asks records.json, keeps its state in the address, and fills the same table. */
(() => {
  "use strict";
  const MOST = 500;
  const made = (tag, css, ...inside) => {
    const element = document.createElement(tag);
    if (css) element.className = css;
    element.append(...inside);
    return element;
  };
  /* Returns one line of a record as nodes, with code, strong text, and the words of links: as `sanitize.headline` does. */
  const MARKED = /`([^`]{1,200})`|\[([^\[\]`]{1,200})\]\([^()\s]{1,300}\)|\*\*(?=\S)([^*`]{1,200})(?<=\S)\*\*/;
  const KINDS = ["", "code", "", "strong"];
  const headline = (text) =>
    text.split(MARKED).flatMap((part, at) => (part ? [KINDS[at % 4] ? made(KINDS[at % 4], "", part) : part] : []));
  const start = (form) => {
    const table = document.querySelector("table.orbit-index");
    const body = table.tBodies[0];
    const pages = document.querySelector(".orbit-pages");
    const first = [...body.rows];
    const said = form.querySelector("output");
    const text = form.elements.namedItem("find");
    const chips = [...form.querySelectorAll("button[name=status]")];
    const selects = [...form.querySelectorAll("select, input[list]")]; // of a few words, and of many
    const root = new URL(form.dataset.orbitRoot, location);
    const shown = new Set([...table.tHead.rows[0].cells].map((cell) => cell.className.replace("orbit-col-", "")));
    const columns = form.dataset.orbitColumns.split(" ").filter((column) => shown.has(column));
    const read = async () => {
      const all = (await (await fetch(new URL(form.dataset.orbitRecords, location))).json()).records;
      const records = all.filter((record) => record.kind === form.dataset.orbitKind);
      if (form.dataset.orbitNewest) records.reverse();
      for (const record of records) {
        record.words = [record.id, record.title, record.sentence, ...record.tags, ...record.legacy_ids, ...Object.values(record.fields)].join("\n").toLowerCase();
      }
      return records;
    };
    let reading = null;
    const loaded = () => (reading ??= read().catch(() => (reading = null)));
    const state = () => {
      const query = new URLSearchParams();
      if (text.value.trim()) query.set("find", text.value.trim());
      for (const chip of chips) if (chip.getAttribute("aria-pressed") === "true") query.append("status", chip.value);
      for (const select of selects) if (select.value.trim()) query.set(select.name, select.value.trim());
      if (order) query.set("sort", order);
      return query;
    };
    /* Columns are sorted by a press on their heading: up, down, then as the page lists them. */
    let order = "";
    const valueOf = (record, column) =>
      ({ id: record.id, status: record.word, date: record.date ?? "", cited: record.cited_by, in_code: record.built })[column]
      ?? (column === "title" || column === form.dataset.orbitHeadline ? record.title : record.fields[column] ?? "");
    const natural = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
    const sorted = (records) => {
      if (!order) return records;
      const column = order.replace("-", ""), sign = order.startsWith("-") ? -1 : 1;
      return [...records].sort((one, other) => {
        const [first, second] = [valueOf(one, column), valueOf(other, column)].map((value) => String(value || ""));
        if (!first || !second) return (second ? 1 : 0) - (first ? 1 : 0); // what says nothing comes last
        return sign * natural.compare(first, second);
      });
    };
    const heads = [...table.tHead.rows[0].cells];
    const columnOf = (head) => head.className.replace("orbit-col-", "");
    const markHeads = () => {
      for (const head of heads) {
        if (order.replace("-", "") !== columnOf(head)) head.removeAttribute("aria-sort");
        else head.setAttribute("aria-sort", order.startsWith("-") ? "descending" : "ascending");
      }
    };
    const wordsOf = (record, name) =>
      name === "tag" ? record.tags : name === "year" ? [record.date_source ? "" : (record.date ?? "").slice(0, 4)] : (record.fields[name] ?? "").split(", ");
    /* A word that no record has whole, as while it is typed, means those that begin with it. */
    const chosen = ({ name, list }, value, held) => {
      if (!list) return (word) => word === value;
      const typed = value.toLowerCase();
      const whole = (word) => word.toLowerCase() === typed;
      return held.some((record) => wordsOf(record, name).some(whole)) ? whole : (word) => word.toLowerCase().startsWith(typed);
    };
    const fits = (query, held) => {
      const words = (query.get("find") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
      const statuses = new Set(query.getAll("status"));
      const choices = selects.filter(({ name }) => query.has(name)).map((one) => [one.name, chosen(one, query.get(one.name), held)]);
      return (record) =>
        (!statuses.size || statuses.has(record.status)) &&
        words.every((word) => record.words.includes(word)) &&
        choices.every(([name, isChosen]) => wordsOf(record, name).some(isChosen));
    };
    const link = ({ url }, ...inside) => Object.assign(made("a", "", ...inside), { href: new URL(url, root) });
    const later = (ids, byId) =>
      made("small", "", " → ", ...ids.flatMap((id, at) => [at ? ", " : "", byId.has(id) ? Object.assign(link(byId.get(id), id), { className: "orbit-id" }) : id]));
    const cell = (record, column) => {
      if (column === "status") return made("span", `orbit-chip orbit-${record.phase} orbit-status-${record.status}`, record.word);
      if (column === "cited") return String(record.cited_by || "");
      if (column === "in_code") return record.differs ? made("span", "orbit-chip orbit-doubt", record.built) : record.built;
      const named = column === "id" || column === "title" || column === form.dataset.orbitHeadline;
      if (column === "date" && record.date_source) return orbitWords.word("day.committed", { day: record.date });
      if (!named) return column === "date" ? record.date ?? "" : record.fields[column] ?? "";
      return link(record, ...(column === "id" ? [record.id] : headline(record.title)));
    };
    const row = (record, byId) =>
      made("tr", `orbit-row-${record.phase}`, ...columns.map((column) => {
        const held = made("td", `orbit-col-${column}`, cell(record, column));
        if (/^\d+$/.test(held.textContent)) held.dataset.label = table.querySelector(`th.orbit-col-${column}`).textContent;
        if (column === "status" && record.review_due) held.append(" ", made("span", "orbit-chip orbit-doubt", orbitWords.word("filter.due", { day: record.review_due })));
        if (column === form.dataset.orbitHeadline && record.sentence) held.append(made("p", "orbit-sentence", record.sentence));
        if (column === form.dataset.orbitHeadline && record.replaced_by.length) held.append(later(record.replaced_by, byId));
        return held;
      }));
    const show = async (keep) => {
      const query = state();
      if (keep) history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
      form.classList.toggle("orbit-chosen", query.size > 0);
      markHeads();
      for (const whole of [pages, table.caption]) if (whole) whole.hidden = query.size > 0;
      if (!query.size) {
        body.replaceChildren(...first);
        said.textContent = "";
        return;
      }
      const held = await loaded();
      if (String(query) !== String(state())) return; // more was typed meanwhile, and gets another answer
      if (!held) {
        said.textContent = orbitWords.word("filter.failed");
        return;
      }
      const found = sorted(held.filter(fits(query, held)));
      const byId = new Map(held.map((record) => [record.id, record]));
      body.replaceChildren(...found.slice(0, MOST).map((record) => row(record, byId)));
      const key = found.length > MOST ? "filter.first" : "filter.found";
      said.textContent = orbitWords.word(key, { n: found.length, most: MOST });
    };
    const propose = async ({ name, list }) => {
      const counts = new Map();
      for (const record of (await loaded()) ?? []) for (const word of wordsOf(record, name)) if (word) counts.set(word, (counts.get(word) ?? 0) + 1);
      const options = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([word, count]) => Object.assign(made("option"), { value: word, label: `${word} (${count})` }));
      list.replaceChildren(...options);
    };
    for (const select of selects) if (select.list) select.addEventListener("focus", () => propose(select), { once: true });
    const query = new URLSearchParams(location.search);
    text.value = query.get("find") ?? "";
    order = heads.some((head) => columnOf(head) === query.get("sort")?.replace("-", "")) ? query.get("sort") : "";
    for (const head of heads) {
      const button = made("button", "orbit-sort", ...head.childNodes);
      button.type = "button";
      button.addEventListener("click", () => {
        const column = columnOf(head);
        order = { [column]: `-${column}`, [`-${column}`]: "" }[order] ?? column;
        show(true);
      });
      head.replaceChildren(button);
    }
    for (const chip of chips) chip.setAttribute("aria-pressed", query.getAll("status").includes(chip.value));
    for (const select of selects) select.value = query.get(select.name) ?? "";
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => show(true));
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      text.value = "";
      for (const chip of chips) chip.setAttribute("aria-pressed", "false");
      for (const select of selects) select.value = "";
      order = "";
      show(true);
    });
    for (const chip of chips) {
      chip.addEventListener("click", () => {
        chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") !== "true");
        show(true);
      });
    }
    show(false);
  };
  document.querySelectorAll(".orbit-filter").forEach(start);
})();
