/* Which records apply to a path: compares it with globs that were parsed when the site was built. */
(() => {
  "use strict";
  const LONGEST = 4096;

  /* Parts in their order, anything between two of them; the leftmost place of each is enough (see text/globs.py). */
  const fits = (parts, whole, size, at) => {
    const last = parts.length - 1;
    if (!last) return size(parts[0]) === whole.length && at(parts[0], whole, 0);
    let start = size(parts[0]);
    const end = whole.length - size(parts[last]);
    if (start > end || !at(parts[0], whole, 0) || !at(parts[last], whole, end)) return false;
    for (const part of parts.slice(1, last)) {
      while (start + size(part) <= end && !at(part, whole, start)) start += 1;
      start += size(part);
      if (start > end) return false;
    }
    return true;
  };
  const code = (character) => character.codePointAt(0);
  const unitFits = (unit, character) => {
    if (unit === 0) return true;
    if (typeof unit === "string") return unit === character;
    if (character === "/") return false;
    let within = false;
    for (let i = 1; i < unit.length; i += 2) within ||= code(unit[i]) <= code(character) && code(character) <= code(unit[i + 1]);
    return within !== Boolean(unit[0]);
  };
  const points = new Map();
  const pointsOf = (text) => {
    if (!points.has(text)) points.set(text, Array.from(text));
    return points.get(text);
  };
  const unitsOf = (chunk) => (typeof chunk === "string" ? pointsOf(chunk) : chunk);
  const charactersAt = (chunk, name, start) => unitsOf(chunk).every((unit, i) => unitFits(unit, name[start + i]));
  const segmentFits = (segment, name) => fits(segment, pointsOf(name), (chunk) => unitsOf(chunk).length, charactersAt);
  const segmentsAt = (group, names, start) => group.every((segment, i) => segmentFits(segment, names[start + i]));
  const matches = (form, path) =>
    pointsOf(path).length <= LONGEST && form.slice(1).some((groups) => fits(groups, path.split("/"), (group) => group.length, segmentsAt));

  /* The records that apply to a path, each with what leads to it: the first glob that matches, unless one excludes
     the path, else what the file imports, else what it cites. */
  const applying = (data, path) => {
    const known = new Map();
    const asked = (text) => {
      if (!known.has(text)) known.set(text, matches(data.globs[text], path));
      return known.get(text);
    };
    /* A path may be called as what every object has: `constructor`. */
    const ofPath = (table) => (Object.hasOwn(table, path) ? table[path] : []);
    const imports = ofPath(data.imports);
    const cites = new Map(ofPath(data.cites));
    const wayTo = (record) => {
      const fitting = record.globs.filter(asked);
      const isExcluded = fitting.some((text) => data.globs[text][0]);
      const used = record.uses.find((name) => imports.includes(name));
      if (fitting.length && !isExcluded) return { by: fitting[0], way: "" };
      if (used && !isExcluded) return { by: used, way: "imports" };
      return cites.has(record.id) ? { by: cites.get(record.id), way: "cites" } : null;
    };
    return data.records.flatMap((record) => {
      const way = wayTo(record);
      return way ? [{ record, ...way }] : [];
    });
  };
  globalThis.orbitPaths = { matches, applying };
  const isOver = (record) => record.expires !== null && Date.parse(record.expires) <= Date.now();
  const groupOf = (record) => (isOver(record) ? "history" : record.group);

  const GROUPS = ["must", "consider", "unknown", "waiting", "history"];
  const made = (tag, css, ...inside) => {
    const element = document.createElement(tag);
    if (css) element.className = css;
    element.append(...inside);
    return element;
  };
  const highlighted = (glob, path) => {
    /* The part of the glob that is text: its folders up to the first wildcard. */
    const literal = glob.match(/^[^*?[{]*/)[0];
    const shared = path.startsWith(literal) ? literal : "";
    return made("code", "orbit-glob", made("mark", "", shared), glob.slice(shared.length));
  };
  const why = (record) => {
    const parts = [];
    if (record.votes) parts.push(orbitWords.counted("paths.vote", record.votes));
    if (record.priority) parts.push(orbitWords.word("paths.priority", { n: record.priority }));
    if (record.updated) parts.push(orbitWords.word("paths.changed", { day: record.updated }));
    return parts.join(" · ");
  };
  const linked = (url, root, ...inside) => Object.assign(made("a", "", ...inside), { href: new URL(url, root) });
  const chipOf = ({ css, word }) => made("span", `orbit-chip ${css}`, word);
  const item = (record, root, ...below) => {
    const link = linked(record.url, root, made("span", "orbit-id", record.id), record.title);
    const sentence = record.sentence ? made("p", "orbit-sentence", record.sentence) : "";
    return made("li", "", link, " ", chipOf(record), sentence, ...below);
  };
  const led = (by, way, path) => (way ? made("code", "orbit-glob", orbitWords.word(`paths.${way}`, { name: by })) : highlighted(by, path));
  const row = ({ record, by, way }, path, root) => item(record, root, made("div", "orbit-why", led(by, way, path), made("small", "", why(record))));
  const list = (found, path, root, most) => {
    const shown = found.slice(0, most);
    const items = made("ul", "orbit-found", ...shown.map((one) => row(one, path, root)));
    return { items, left: found.length - shown.length };
  };

  const clean = (text) => text.trim().replace(/\\/g, "/").replace(/^(\.?\/)+/, "").replace(/\/{2,}/g, "/");
  const isPath = (text) => !/\s/.test(text) && (text.includes("/") || /\.[A-Za-z]\w{0,9}$/.test(text));

  /* Folders that every project has say nothing of what a file is about. */
  const USUAL = new Set("src lib app apps main java kotlin python com org net io pkg cmd internal packages modules test tests docs doc index init".split(" "));
  const piecesOf = (name) => name.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  /* Returns the rows of the records whose texts have the names of a path's folders, those with most first. */
  const mentioning = ({ owners, terms, words }, path) => {
    const names = path.replace(/\.\w+$/, "").split("/").filter((name) => name.length > 2 && !USUAL.has(name.toLowerCase()));
    const counts = new Map();
    const rowsOf = (piece) => {
      const steps = terms[words[piece] ?? piece] ?? [];
      const rows = new Set();
      for (let at = 0, slot = 0; at < steps.length; at += 2) rows.add(owners[(slot += steps[at])]);
      return rows;
    };
    for (const name of new Set(names)) {
      const [first, ...others] = piecesOf(name).map(rowsOf);
      for (const row of first ?? []) if (others.every((rows) => rows.has(row))) counts.set(row, (counts.get(row) ?? 0) + 1);
    }
    return [...counts].sort(([, count], [, more]) => more - count).map(([row]) => row);
  };

  const start = (form) => {
    const input = form.querySelector("input");
    const said = form.querySelector(".orbit-said");
    const answer = form.querySelector(".orbit-answer");
    const hint = answer.firstElementChild; // paths to try
    const root = new URL(form.dataset.orbitRoot, location);
    const home = new URL(form.dataset.orbitExplorer, location);
    const whole = home.pathname === location.pathname;
    const most = Number(form.dataset.orbitMost) || Infinity;
    const json = async (address) => (await fetch(address)).json();
    const once = (read) => {
      let reading = null;
      return () => (reading ??= read().catch(() => (reading = null)));
    };
    const words = new URL(form.dataset.orbitWords, location);
    const script = document.querySelector("script[src*='assets/orbit/explorer.js']");
    const scopes = once(() => json(new URL(form.dataset.orbitPaths, location)));
    const records = once(async () => new Map((await json(new URL(form.dataset.orbitRecords, location))).records.map((record) => [record.id, record])));
    const search = once(async () => {
      const [titles, texts, { finder }] = await Promise.all([
        json(new URL("titles.json", words)), json(new URL("words.json", words)), import(new URL("search.js", script.src)),
      ]);
      return { titles, texts, find: finder(titles, texts) };
    });
    const loaded = async () => {
      const data = await scopes();
      if (!data) {
        said.textContent = orbitWords.word("paths.failed");
        return null;
      }
      const byId = await records();
      for (const record of data.records) record.sentence ??= byId?.get(record.id)?.sentence ?? "";
      return data;
    };

    const examples = () => {
      if (!hint) return;
      hint.hidden = false;
      answer.replaceChildren(hint);
    };
    const show = (found, path, words) => {
      said.textContent = words;
      const parts = [];
      let room = most;
      let left = 0;
      for (const group of GROUPS) {
        const name = orbitWords.word(`paths.${group}`);
        const held = found.filter(({ record }) => groupOf(record) === group);
        if (!held.length) continue;
        const { items, left: more } = list(held, path, root, Math.max(room, 0));
        room -= held.length - more;
        left += more;
        if (!items.children.length) continue;
        if (group === "history" && whole) {
          parts.push(made("details", "orbit-more", made("summary", "", `${name} (${held.length})`), items));
        } else {
          parts.push(made("h2", "", name), items);
        }
      }
      if (left) {
        const link = made("a", "", orbitWords.word("paths.more", { n: left }));
        link.href = `${home.href}?path=${encodeURIComponent(path)}`;
        parts.push(made("p", "", link));
      }
      answer.replaceChildren(...parts);
    };
    /* Returns the records of some rows of the search as lists draw them. */
    const ofRows = async (rows) => {
      const { titles: { records: all, looks } } = await search();
      const byId = await records();
      return rows.map((row) => {
        const [id, title, look, , url] = all[row];
        return { id, title, url: url ?? `${looks[look].folder}${id}/`, ...looks[look], sentence: byId?.get(id)?.sentence, listed: byId?.get(id) };
      });
    };
    /* Lists the decisions that name no files and whose texts name the folders of a path. */
    const mention = async (path) => {
      const text = input.value;
      const ready = await search();
      if (!ready) return;
      const candidates = await ofRows(mentioning(ready.texts.records, path));
      const bare = candidates.filter(({ listed, closed }) => listed && !listed.scope.paths.length && !closed).slice(0, Math.min(most, 20));
      if (!bare.length || text !== input.value) return;
      const title = orbitWords.counted("paths.mention", bare.length);
      answer.append(made("h2", "", title), made("ul", "orbit-found", ...bare.map((record) => item(record, root))));
    };
    const askPath = async (path) => {
      const data = await loaded();
      if (!data || path !== clean(input.value)) return;
      const found = applying(data, path);
      const live = found.filter(({ record }) => ["must", "consider"].includes(groupOf(record))).length;
      const { orbitUnscoped: unscoped, orbitOverlooked: overlooked } = form.dataset;
      /* The explorer's own page says it below the form already. */
      const missing = live || whole ? "" : unscoped ?? overlooked ?? "";
      const none = orbitWords.word(unscoped ? "paths.none.named" : "paths.none", { path });
      const sentence = live ? orbitWords.counted("paths.apply", live, { path }) : none;
      show(found, path, missing ? `${sentence}: ${missing}` : sentence);
      if (!found.length) examples();
      if (!live && unscoped) await mention(path);
    };
    const askWords = async (text) => {
      const ready = await search();
      if (!ready || text !== input.value.trim()) return;
      const rows = ready.find.records(text).slice(0, ready.find.names(text) ? 1 : undefined);
      const found = await ofRows(rows.slice(0, most));
      if (text !== input.value.trim()) return;
      said.textContent = rows.length ? orbitWords.counted("paths.words", rows.length, { text }) : orbitWords.word("box.nothing", { text });
      answer.replaceChildren(made("ul", "orbit-found", ...found.map((record) => item(record, root))));
    };
    const ask = async (keep) => {
      const text = input.value.trim();
      const path = clean(text);
      if (whole && keep) history.replaceState(null, "", path ? `?path=${encodeURIComponent(path)}` : location.pathname);
      if (!path) {
        said.textContent = "";
        examples();
      } else if (whole || isPath(text)) await askPath(path);
      else await askWords(text);
    };
    const named = async (glob) => {
      const data = await loaded();
      if (!data) return;
      const found = data.records.filter((record) => record.globs.includes(glob)).map((record) => ({ record, by: glob, way: "" }));
      show(found, "", found.length ? orbitWords.counted("paths.named", found.length, { glob }) : orbitWords.word("paths.named.none", { glob }));
    };

    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await ask(true);
      if (!whole && !isPath(input.value.trim())) answer.querySelector("a")?.click();
    });
    input.addEventListener("input", () => ask(true));
    input.addEventListener("focus", () => { scopes(); if (!whole) search(); }, { once: true });
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("[data-orbit-path]");
      if (!link || !whole) return;
      event.preventDefault();
      input.value = link.dataset.orbitPath;
      ask(true);
      input.focus();
    });
    if (!whole) return;
    const query = new URLSearchParams(location.search);
    if (query.get("glob")) { named(query.get("glob")); return; }
    input.value = query.get("path") ?? "";
    ask(false);
  };
  document.querySelectorAll("[data-orbit-paths]").forEach(start);
})();
