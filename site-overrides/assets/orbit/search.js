/* Finds records by the words that `orbit search` finds them by (search/terms.py), and adds what these weigh; it draws nothing. */
const MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e";
const PIECE = /[A-Za-z0-9_\u00c0-\u1fff\u2c00-\u2fff\u3040-\u{10ffff}]+/gu;
const WORD = new RegExp(`[\\p{L}\\p{N}${MARKS}]+`, "gu");
const PART = /[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;
const HEX = /^(?=[0-9a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}$/;
const UNSPACED = /^[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u{20000}-\u{3ffff}]/u;
const UPPER = /^\p{Lu}/u;
const LOWER = /^\p{Ll}/u;
const DIGIT = /^\p{Nd}/u; // codespell:ignore nd
const LONGEST = 64;
const meet = (letters, at) => {
  const [before, here, after] = [letters[at - 1], letters[at], letters[at + 1] ?? ""];
  if (UNSPACED.test(here) || UNSPACED.test(before)) return UNSPACED.test(here) !== UNSPACED.test(before);
  if (DIGIT.test(before) !== DIGIT.test(here)) return true;
  return UPPER.test(here) && (LOWER.test(before) || LOWER.test(after));
};

const parts = (word) => {
  if (/^[\x00-\x7f]*$/.test(word)) return word.match(PART) ?? [];
  const letters = [...word];
  const found = [];
  for (let start = 0, at = 1; at <= letters.length; at++) {
    if (at < letters.length && !meet(letters, at)) continue;
    found.push(letters.slice(start, at).join(""));
    start = at;
  }
  return found;
};

/* Returns the words of a text. */
export const words = (text) => {
  const found = [];
  for (const piece of text.normalize("NFKC").match(PIECE) ?? []) {
    for (const word of piece.match(WORD) ?? []) {
      for (const part of HEX.test(word) ? [word] : parts(word)) {
        const letters = [...part];
        if (!UNSPACED.test(part)) found.push([...part.toLowerCase()].slice(0, LONGEST).join(""));
        else for (let at = 0; at < Math.max(letters.length - 1, 1); at++) found.push(letters.slice(at, at + 2).join(""));
      }
    }
  }
  return found;
};

/* Which file holds a word (site/finder.py). */
const shardOf = (word, files) => {
  const [first, second] = [...word].map((letter) => letter.codePointAt(0));
  return (first * 31 + (second ?? 0)) % files;
};

const COMPLETED = 0.5; // what a word counts that was only begun
const ENDING = /^[bdfglmnprt]?(?:s|e|es|d|ed|ing|ings|er|ers|ly|y|ies|ied|ion|ions|ment|ments)$/;

/* Returns the terms that a word leads to, each with what it counts: its own, those of words that it begins, else that of the longest word that it begins with. */
const termsOf = (word, known, open) => {
  const found = new Map();
  if (open) for (const other in known) if (other.startsWith(word)) found.set(known[other], COMPLETED);
  if (Object.hasOwn(known, word)) found.set(known[word], 1);
  for (let end = word.length - 1; end > 2 && !found.size; end--) {
    const start = word.slice(0, end);
    if (Object.hasOwn(known, start) && ENDING.test(word.slice(end))) found.set(known[start], 1);
  }
  return found;
};

/* Returns a function from what is typed to how many records that finds and the numbers of the `most` best; the last word may be
   the start of one. `read` resolves to a file of words. Closed records, which `orbit search` leaves out, count half; what replaced them comes first. */
export const finder = ({ records, looks, names, common, files }, read) => {
  const closed = looks.map(([, css]) => css.startsWith("orbit-closed"));
  const left = new Set(common);
  const shards = new Map();
  const shard = (number) => shards.get(number) ?? shards.set(number, read(`search/words/${number}.json`)).get(number);
  return async (typed, most) => {
    const scores = new Map();
    const add = (row, weight) => scores.set(row, (scores.get(row) ?? 0) + weight);
    const asked = words(typed);
    const last = /[\p{L}\p{N}]$/u.test(typed) ? asked.at(-1) : null;
    for (const word of new Set(asked)) {
      if (left.has(word) && word !== last) continue;
      const { words: known, terms } = await shard(shardOf(word, files));
      const best = new Map();
      for (const [term, part] of termsOf(word, known, word === last)) {
        const held = terms[term];
        for (let at = 0; at < held.length; at += 2) best.set(held[at], Math.max(best.get(held[at]) ?? 0, held[at + 1] * part));
      }
      best.forEach((weight, row) => add(row, weight));
    }
    scores.forEach((score, row) => closed[records[row][3]] && scores.set(row, score / 2));
    const id = typed.trim().toLowerCase();
    if (Object.hasOwn(names, id)) names[id].forEach((row) => add(row, 1e6));
    if (id.length > 2) records.forEach(([own], row) => own.toLowerCase().startsWith(id) && add(row, own.length === id.length ? 2e6 : 1e5));
    [...scores].forEach(([row, score]) => (records[row][5] ?? []).forEach((heir) => scores.set(heir, Math.max(scores.get(heir) ?? 0, score * 2))));
    const order = [...scores].sort(([one, a], [other, b]) => b - a || one - other);
    return { number: order.length, rows: order.slice(0, most).map(([row]) => row) };
  };
};
