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

  /* The records of a scope, each with the first glob that matches; one that excludes takes the path away. */
  const applying = (data, path) => {
    const known = new Map();
    const asked = (text) => {
      if (!known.has(text)) known.set(text, matches(data.globs[text], path));
      return known.get(text);
    };
    return data.records.flatMap((record) => {
      let by = null;
      for (const text of record.globs) {
        if (!asked(text)) continue;
        if (data.globs[text][0]) return [];
        by ??= text;
      }
      return by === null ? [] : [{ record, by }];
    });
  };
  globalThis.orbitPaths = { matches, applying };
  const isOver = (record) => record.expires !== null && Date.parse(record.expires) <= Date.now();
  const groupOf = (record) => (isOver(record) ? "history" : record.group);

  const GROUPS = [["must", "Must"], ["consider", "Consider"], ["unknown", "No status stated"], ["waiting", "Not decided yet"], ["history", "History"]];
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
    if (record.votes) parts.push(`${record.votes} ${record.votes === 1 ? "vote" : "votes"}`);
    if (record.priority) parts.push(`priority ${record.priority}`);
    if (record.updated) parts.push(`changed ${record.updated}`);
    return parts.join(" · ");
  };
  const row = ({ record, by }, path, root) => {
    const link = made("a", "", made("span", "orbit-id", record.id), record.title);
    link.href = new URL(record.url, root);
    const chip = made("span", `orbit-chip ${record.css}`, record.word);
    return made("li", "", link, " ", chip, made("div", "orbit-why", highlighted(by, path), made("small", "", why(record))));
  };
  const list = (found, path, root, most) => {
    const shown = found.slice(0, most);
    const items = made("ul", "orbit-found", ...shown.map((one) => row(one, path, root)));
    return { items, left: found.length - shown.length };
  };

  const clean = (text) => text.trim().replace(/\\/g, "/").replace(/^(\.?\/)+/, "").replace(/\/{2,}/g, "/");

  const start = (form) => {
    const input = form.querySelector("input");
    const said = form.querySelector(".orbit-said");
    const answer = form.querySelector(".orbit-answer");
    const hint = answer.firstElementChild; // paths to try
    const root = new URL(form.dataset.orbitRoot, location);
    const home = new URL(form.dataset.orbitExplorer, location);
    const whole = home.pathname === location.pathname;
    const most = Number(form.dataset.orbitMost) || Infinity;
    let data = null;
    const loaded = async () => {
      try {
        data ??= await (await fetch(new URL(form.dataset.orbitPaths, location))).json();
      } catch {
        said.textContent = "The scopes of records can't be asked for here. Opened as a file? orbit site serve shows the site whole.";
      }
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
      for (const [group, name] of GROUPS) {
        const held = found.filter(({ record }) => groupOf(record) === group);
        if (!held.length) continue;
        const { items, left: more } = list(held, path, root, Math.max(room, 0));
        room -= held.length - more;
        left += more;
        if (!items.children.length) continue;
        if (group === "history" && whole) {
          parts.push(made("details", "orbit-more", made("summary", "", `${name} (${held.length})`), items));
        } else {
          parts.push(made("h3", "", name), items);
        }
      }
      if (left) {
        const link = made("a", "", `${left} more`);
        link.href = `${home.href}?path=${encodeURIComponent(path)}`;
        parts.push(made("p", "", link));
      }
      answer.replaceChildren(...parts);
    };
    const ask = async (keep) => {
      if (!(await loaded())) return;
      const path = clean(input.value);
      if (whole && keep) history.replaceState(null, "", path ? `?path=${encodeURIComponent(path)}` : location.pathname);
      if (!path) {
        said.textContent = "";
        examples();
        return;
      }
      const found = applying(data, path);
      const live = found.filter(({ record }) => ["must", "consider"].includes(groupOf(record))).length;
      const overlooked = live ? "" : form.dataset.orbitOverlooked ?? "";
      const words = live === 1 ? `1 record applies to ${path}` : `${live || "No"} records apply to ${path}`;
      show(found, path, overlooked ? `${words}: ${overlooked}` : words);
      if (!found.length) examples();
    };
    const named = async (glob) => {
      if (!(await loaded())) return;
      const found = data.records.filter((record) => record.globs.includes(glob)).map((record) => ({ record, by: glob }));
      show(found, "", found.length === 1 ? `1 record names ${glob}` : `${found.length || "No"} records name ${glob}`);
    };

    form.hidden = false;
    form.addEventListener("submit", (event) => { event.preventDefault(); ask(true); });
    input.addEventListener("input", () => ask(true));
    input.addEventListener("focus", () => { if (!data) ask(false); }, { once: true });
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
