/* Ranks whole texts as `orbit search` does (search/text_index.py, search/fusion.py, search/query.py); it draws nothing. */
import { terms } from "./search.js";

const K1 = 1.2;
const B = 0.75;
const SMOOTHING = 60;
const IDENTIFIER = /^(?:#?\p{Nd}+|[\p{L}\p{N}_#./:-]*(?:[a-z][A-Z]|_|::|[\p{L}\p{N}_][/.][\p{L}\p{N}_]|\p{Nd})[\p{L}\p{N}_#./:-]*)$/u; // codespell:ignore nd
const QUOTES = /^["'“”‘’«»`]+|["'“”‘’«»`]+$/g;
const MARKS = /^[.,;:!?()[\]'"`]+|[.,;:!?()[\]'"`]+$/g;
const FRAME = /^[.,;:!?…]+|[.,;:!?…]+$/g;

/* Returns the paths of the files that hold the texts of so many records (site/texts.py). */
export const files = (records) => {
  let number = 1;
  while (number * 256 < records) number *= 2;
  return Array.from({ length: number }, (_, at) => `search/texts/${at}.txt`);
};

/* Returns how many of the best texts are ranked by characters too, and whether chunks are looked into. */
const depth = (typed) => {
  const words = typed.trim().split(/\s+/);
  if (words.length === 1 && IDENTIFIER.test(words[0].replace(QUOTES, ""))) return { pool: 0, most: 32, chunks: false };
  return words.length > 15 || /[?？]$/.test(typed.trimEnd()) ? { pool: 400, most: 400, chunks: true } : { pool: 100, most: 100, chunks: true };
};

const grams = (term, longest) => {
  const marked = `_${term}_`;
  const found = [];
  for (let size = 3; size <= longest; size++) for (let at = 0; at + size <= marked.length; at++) found.push(marked.slice(at, at + size));
  return found;
};

/* Returns the place of each score, from 1; equal ones share the first of theirs. */
const places = (scores) => {
  const found = new Map();
  [...scores].sort((a, b) => b - a).forEach((score, at) => found.has(score) || found.set(score, at + 1));
  return scores.map((score) => found.get(score));
};

const sum = (values) => values.sort((a, b) => a - b).reduce((all, one) => all + one, 0); // in one order: what is equal stays so

const byRank = (a, b) => {
  for (let at = 0; at < a.rank.length; at++) if (a.rank[at] !== b.rank[at]) return a.rank[at] - b.rank[at];
  return a.id < b.id ? -1 : 1;
};

const read = async (contents) => {
  const slots = [];
  const holders = new Map(); // of each term the texts that have it, each followed by what it counts there
  let owner = null;
  for (const line of contents.flatMap((one) => one.split("\n"))) {
    if (!line) {
      await new Promise((done) => setTimeout(done)); // a file is at its end: keys that were pressed meanwhile come first
      continue;
    }
    const [id, rank, searched, said] = line.split("\t");
    if (id) owner = { id, rank: rank.split(" ").map((one) => (one === "inf" ? Infinity : Number(one))), searched: searched === "x" };
    const slot = { owner, chunk: !id, said, length: 0 };
    for (const word of said ? said.split(" ") : []) {
      const [term, counts = "2"] = word.split(":");
      slot.length += Number(counts);
      if (!holders.has(term)) holders.set(term, []);
      holders.get(term).push(slots.length, Number(counts));
    }
    slots.push(slot);
  }
  return { slots, holders };
};

/* Resolves to a function from what is typed to the numbers of the records that `orbit search` finds, in its order, and between
   them, at half their score, of those it leaves out; null where the text names nothing, or the last word only begins one. */
export const ranker = async ({ ids, names = {}, common, generic }, contents) => {
  const { slots, holders } = await read(contents);
  const rows = new Map(ids.map((id, row) => [id, row]));
  const known = new Set(common);
  const empty = new Set(generic);
  const owners = new Map(slots.map(({ owner }) => [owner.id, owner]));
  const average = slots.reduce((all, { length }) => all + length, 0) / slots.length || 1;
  const norms = slots.map(({ length }) => 2 * K1 * (1 - B) + ((2 * K1 * B) / average) * length);
  const frequency = (term) => (holders.get(term)?.length ?? 0) / 2;

  const byTerms = (asked, { most, chunks }, searched) => {
    const worth = (term) => Math.log1p((slots.length - frequency(term) + 0.5) / (frequency(term) + 0.5)) * (K1 + 1);
    const weighed = [...new Set(asked)].map((term) => [worth(term), term]);
    const best = weighed.reduce((all, [weight]) => all + weight, 0);
    const scores = new Map();
    for (const [weight, term] of weighed.sort(([a, one], [b, other]) => b - a || (one < other ? -1 : 1))) {
      const held = holders.get(term) ?? [];
      for (let at = 0; at < held.length; at += 2) {
        const slot = slots[held[at]];
        if (slot.owner.searched !== searched || (slot.chunk && !chunks)) continue;
        scores.set(held[at], (scores.get(held[at]) ?? 0) + (weight * held[at + 1]) / (held[at + 1] + norms[held[at]]));
      }
    }
    return [...scores].map(([slot, score]) => [slot, score / best]).sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, most);
  };

  const byCharacters = (asked, found) => {
    const wanted = new Map();
    for (const gram of asked.flatMap((term) => grams(term, 5))) wanted.set(gram, (wanted.get(gram) ?? 0) + 1);
    const shared = new Map();
    const having = new Map();
    for (const [term, held] of holders) {
      if (!grams(term, 3).some((gram) => wanted.has(gram))) continue;
      const own = grams(term, 5).filter((gram) => wanted.has(gram));
      shared.set(term, own);
      for (const gram of new Set(own)) having.set(gram, (having.get(gram) ?? 0) + held.length / 2);
    }
    const worth = (gram) => (1 + Math.log(wanted.get(gram))) * (Math.log((1 + slots.length) / (1 + Math.min(having.get(gram), slots.length))) + 1) ** 2;
    const weights = new Map([...shared].map(([term, own]) => [term, sum(own.map(worth))]));
    return found.map(([at]) => {
      const parts = [];
      for (const word of slots[at].said.split(" ")) {
        const [term, counts = "2"] = word.split(":");
        if (weights.has(term)) parts.push(weights.get(term) * (1 + Math.log(Math.max(Number(counts), 2) / 2)));
      }
      return sum(parts) / Math.sqrt(slots[at].length / 2 || 1);
    });
  };

  /* Makes one order of both rankings, with the scores of the first. */
  const fused = (found, asked, pool) => {
    const head = found.slice(0, pool);
    const first = places(head.map(([, score]) => score));
    const second = places(byCharacters(asked, head));
    const place = head.map((_, at) => 1 / (SMOOTHING + first[at]) + 1 / (SMOOTHING + second[at]));
    const order = head.map((_, at) => at).sort((a, b) => place[b] - place[a] || head[b][1] - head[a][1] || a - b);
    return [...order.map((from, at) => [head[from][0], head[at][1]]), ...found.slice(pool)];
  };

  const named = (typed) => {
    const said = new Set(typed.split(/\s+/).map((word) => word.replace(MARKS, "")).filter((word) => word.includes("-")));
    const found = [...said].flatMap((word) => (rows.has(word) ? [rows.get(word)] : (names[word.toLowerCase()] ?? [])));
    return found.map((row) => owners.get(ids[row])).filter((owner) => owner?.searched).map((owner) => [owner, 1]);
  };

  const ranked = (typed, asked, way) => {
    const scores = new Map(named(typed));
    const found = fused(byTerms(asked, way, true), asked, way.pool);
    const closed = byTerms(asked, way, false).map(([at, score]) => [at, score / 2]);
    for (const [at, score] of [...found, ...closed]) if (!scores.has(slots[at].owner)) scores.set(slots[at].owner, score);
    const order = [...scores].sort(([one, a], [other, b]) => b - a || byRank(one, other));
    return order.map(([owner]) => rows.get(owner.id)).filter((row) => row !== undefined);
  };

  return (typed) => {
    const words = [...new Set(typed.split(/\s+/))].map((word) => [word, terms(word, known)]).filter(([, found]) => found.length);
    const asked = words.flatMap(([, found]) => found.map(({ term }) => term));
    if (words.every(([word]) => empty.has(word.toLowerCase().replace(FRAME, "").split("'")[0]))) return null;
    const last = terms(typed, known).at(-1);
    const open = /[\p{L}\p{N}]$/u.test(typed) && !holders.has(last.term);
    if (open && [...holders.keys()].some((term) => term.startsWith(last.written))) return null;
    const way = depth(typed);
    const found = ranked(typed, asked, way);
    return found.length || way.pool ? found : ranked(typed, asked, { pool: 100, most: 100, chunks: true });
  };
};
