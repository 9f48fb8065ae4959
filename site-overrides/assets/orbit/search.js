/* The search box: finds records in the order of `orbit search`, and pages by the same ranking; both files of data are search_data.py's. */
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
const ACCENT = /[\u0300-\u036f]/g;
const SPELT = { ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ł: "l", ı: "i" };
/* Returns a letter without accents; one with other marks stays. */
const unaccented = (letter) => {
  const bare = [...letter.normalize("NFD").replace(ACCENT, "")];
  return bare.length > 1 ? letter : bare.map((part) => SPELT[part] ?? part).join("");
};
const folded = (word) => (/^[\x00-\x7f]*$/.test(word) ? word : [...word].map(unaccented).join(""));
const meet = (letters, at) => {
  const [before, here, after] = [letters[at - 1], letters[at], letters[at + 1] ?? ""];
  if (UNSPACED.test(here) || UNSPACED.test(before)) return UNSPACED.test(here) !== UNSPACED.test(before);
  if (DIGIT.test(before) !== DIGIT.test(here)) return true;
  return UPPER.test(here) && (LOWER.test(before) || LOWER.test(after));
};

const parts = (word) => {
  if (/^[\x00-\x7f]*$/.test(word)) return word.match(PART) ?? [];
  const letters = [...word];
  const result = [];
  for (let start = 0, at = 1; at <= letters.length; at++) {
    if (at < letters.length && !meet(letters, at)) continue;
    result.push(letters.slice(start, at).join(""));
    start = at;
  }
  return result;
};

/* Returns the words of a text. */
export const words = (text) => {
  const result = [];
  for (const piece of text.normalize("NFKC").match(PIECE) ?? []) {
    for (const word of piece.match(WORD) ?? []) {
      for (const part of HEX.test(word) ? [word] : parts(word)) {
        const letters = [...part];
        if (!UNSPACED.test(part)) result.push(...[[...folded(part.toLowerCase())].slice(0, LONGEST).join("")].filter(Boolean));
        else for (let at = 0; at < Math.max(letters.length - 1, 1); at++) result.push(letters.slice(at, at + 2).join(""));
      }
    }
  }
  return result;
};

const FRAME = /^[.,;:!?…()[\]'"“”‘’«»`]+|[.,;:!?…()[\]'"“”‘’«»`]+$/g;

/* What a query means: the formulas of search/reading.py. */
const MIXED = /[A-Za-z][0-9]|[0-9][A-Za-z]/;
const piecesOf = (text) => text.normalize("NFKC").match(PIECE) ?? [];
const partsOf = (piece) => piece.split("_").flatMap((part) => (part ? parts(part) : []));
const nameOf = (piece) => {
  if (!/^[\x00-\x7f]+$/.test(piece) || piece.length > LONGEST) return "";
  const name = piece.replaceAll("_", "").toLowerCase();
  return /^\d*$/.test(name) || partsOf(piece).length < 2 ? "" : name;
};
const SHORTEST_TYPED = 4, TWICE = 8, TELLING = 3, TELLING_NAME = 8;
const isLike = (word, other, most) => {
  if (other[0] !== word[0] || Math.abs(other.length - word.length) > most || !/^\p{L}+$/u.test(other)) return false;
  return word.length >= TWICE - 2 || other.length !== word.length || [...word].sort().join() === [...other].sort().join();
};
const slips = (word, other) => {
  let before = [], row = [...other, ""].map((_, at) => at);
  for (let at = 1; at <= word.length; at++) {
    const above = row;
    row = [at];
    for (let place = 1; place <= other.length; place++) {
      const isOther = word[at - 1] !== other[place - 1];
      const isSwapped = at > 1 && place > 1 && word[at - 1] === other[place - 2] && word[at - 2] === other[place - 1];
      row.push(Math.min(above[place] + 1, row[place - 1] + 1, above[place - 1] + isOther, isSwapped ? before[place - 2] + 1 : Infinity));
    }
    before = above;
  }
  return row.at(-1);
};
/* Returns where a text has what a query looks for exactly: an identifier, an id or a path. */
export const placesIn = (text, query) => {
  const names = new Set(), written = [];
  for (const word of query.split(/\s+/)) {
    const bare = word.replace(FRAME, ""), pieces = piecesOf(bare);
    if (pieces.length === 1) names.add(nameOf(pieces[0]) || pieces[0].toLowerCase());
    else if (IDENTIFIER.test(bare)) written.push(bare.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  }
  const places = [...text.matchAll(PIECE)].filter(([piece]) => names.has(nameOf(piece))).map(({ index }) => index);
  if (written.length) for (const { index } of text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}_])(?:${written.join("|")})(?![\\p{L}\\p{N}_])`, "giu"))) places.push(index);
  return places.sort((a, b) => a - b);
};

const SHORTEST = 3, LONGEST_GRAM = 5;
const SMOOTHING = 60; // of reciprocal rank fusion
const COMPLETED = 0.5; // what a word counts of which only the beginning is typed
const SHORTEST_STEM = 4;
const ENDING = /^[bdfglmnprt]?(?:s|e|es|d|ed|ing|ings|er|ers|ly|y|ies|ied|ion|ions|ment|ments)$/;
const runs = (term) => {
  const marked = `_${term}_`, result = [];
  for (let size = SHORTEST; size <= LONGEST_GRAM; size++)
    for (let start = 0; start + size <= marked.length; start++) result.push(marked.slice(start, start + size));
  return result;
};
const placesOf = (scores) => {
  const places = new Map();
  [...scores].sort((a, b) => b - a).forEach((score, at) => places.has(score) || places.set(score, at + 1));
  return places;
};

/* Texts that terms rank, and among the best the characters of these: the formulas of search/index.py. */
export class Texts {
  constructor({ lengths, norm: [base, slope], words: termOf, terms, names = {} }, common) {
    Object.assign(this, { lengths, termOf, terms, names, common: new Set(common), slots: new Map(), near: new Map(), all: Object.keys(terms) });
    this.known = [...this.all.map((term) => [term, term]), ...Object.entries(termOf)];
    this.norms = lengths.map((length) => base + slope * length);
  }

  /* Returns what a text means: terms, the last word if it may go on and how many terms it has, the slots with an exact identifier,
     the slots that a text of one identifier is about, and what mistyped words are read as. */
  read(text) {
    const result = { terms: [], last: undefined, lastTerms: 0, exact: new Set(), only: null, corrected: new Map() };
    const pieces = piecesOf(text), goesOn = /[\p{L}\p{N}]$/u.test(text);
    pieces.forEach((piece, at) => {
      const name = nameOf(piece), list = words(piece), last = goesOn && !name && at === pieces.length - 1 ? list.at(-1) : undefined;
      const isTogether = list.length === 1 && this.term(list[0]) === null;
      const exact = name || isTogether ? this.named(name || list[0]) : [];
      let parts = exact.length ? list : partsOf(piece).map((part) => folded(part.toLowerCase()));
      if (!name) parts = list;
      if (name && MIXED.test(piece)) {
        const only = exact.length ? exact : this.withAll(parts);
        if (pieces.length === 1) result.only = new Set(only);
        if (!only.length) return;
        parts = list;
      }
      const right = parts.map((word) => (exact.length || (word === last && this.begun(word).size) ? word : this.correction(word)));
      parts.forEach((word, at) => word !== right[at] && result.corrected.set(word, right[at]));
      const isCorrected = right.some((word, at) => word !== parts[at]);
      const slots = isCorrected && parts.length > 1 ? this.named(right.join("")) : exact;
      if (pieces.length === 1 || piece.length >= TELLING_NAME) slots.forEach((slot) => result.exact.add(slot));
      const terms = right.filter((word) => !this.common.has(word)).map((word) => this.term(word) ?? word);
      result.terms.push(...terms);
      if (last !== undefined) Object.assign(result, { last, lastTerms: this.common.has(last) ? 0 : 1 });
    });
    return result;
  }

  /* Returns the slots of the texts that have an identifier. */
  named(name) {
    let slot = 0;
    const term = this.term(name);
    const holders = term === null || !this.isWord(name) ? [] : this.holders(term).filter((_, at) => at % 2 === 0);
    return [...(Object.hasOwn(this.names, name) ? this.names[name] : []).map((step) => (slot += step)), ...holders];
  }

  /* Returns the slots of the texts that have every part of an identifier: SHA-256 for `sha256`. */
  withAll(list) {
    if (!list.some((part) => /^[A-Za-z]+$/.test(part) && part.length >= TELLING)) return [];
    const all = list.map((part) => new Set(this.holders(this.term(part.toLowerCase()) ?? "").filter((_, at) => at % 2 === 0)));
    return [...all[0]].filter((slot) => all.every((slots) => slots.has(slot)));
  }

  isWord(word) {
    return Object.hasOwn(this.termOf, word) || Object.hasOwn(this.terms, word);
  }

  /* Returns the word of some text that a mistyped word is; the word where there is none. */
  correction(word) {
    if (word.length < SHORTEST_TYPED || !/^[a-z]+$/.test(word) || this.common.has(word) || this.term(word) !== null) return word;
    const most = word.length >= TWICE ? 2 : 1;
    const near = [];
    for (const [other, term] of this.known) {
      const number = isLike(word, other, most) ? slips(word, other) : Infinity;
      if (number <= most) near.push([number, this.holders(term).length, other]);
    }
    near.sort(([number, texts, other], [less, more, first]) => number - less || more - texts || (other < first ? -1 : 1));
    return near.length ? near[0][2] : word;
  }

  /* Returns the term of a word; of an unknown word, the term that it begins with. */
  term(word) {
    for (let end = word.length; end > Math.min(2, word.length - 1); end--) {
      const start = word.slice(0, end);
      const ending = word.slice(end);
      if (ending && (!ENDING.test(ending) || (end < SHORTEST_STEM && ending !== "s"))) continue; // `caring` is no `car`
      if (Object.hasOwn(this.termOf, start)) return this.termOf[start];
      if (Object.hasOwn(this.terms, start)) return start;
    }
    return null;
  }

  /* Returns the terms of all words that begin so. */
  begun(start) {
    return new Set(this.known.flatMap(([word, term]) => (word.startsWith(start) ? [term] : [])));
  }

  /* Returns the slots of the texts that have a term, each followed by what the term counts there. */
  holders(term) {
    if (!this.slots.has(term)) {
      let slot = 0;
      const steps = Object.hasOwn(this.terms, term) ? this.terms[term] : [];
      this.slots.set(term, steps.map((number, at) => (at % 2 ? number : (slot += number))));
    }
    return this.slots.get(term);
  }

  worth(term) {
    const frequency = this.holders(term).length / 2;
    return frequency ? Math.log1p((this.lengths.length - frequency + 0.5) / (frequency + 0.5)) : 0;
  }

  /* Returns the slots of the texts with one of the terms, with scores, the best first; of the terms of a word the heaviest counts. */
  search(groups, allowed) {
    const scores = new Float64Array(this.lengths.length);
    for (const group of groups) {
      const best = new Float64Array(scores.length);
      for (const [term, part] of group) {
        const worth = this.worth(term) * part, holders = this.holders(term);
        for (let at = 0; at < holders.length; at += 2) {
          const slot = holders[at], count = holders[at + 1];
          best[slot] = Math.max(best[slot], (worth * count) / (count + this.norms[slot]));
        }
      }
      best.forEach((weight, slot) => (scores[slot] += weight));
    }
    const hits = [];
    scores.forEach((score, slot) => score && allowed[slot] && hits.push([slot, score]));
    return hits.sort(([slot, score], [other, more]) => more - score || slot - other);
  }

  /* Returns at most `most` slots with scores in the order of both rankings; `query` are terms, repeated as often as they occur. */
  ranked(query, pool, most, allowed) {
    const ordered = [...new Set(query)].sort((term, other) => this.worth(other) - this.worth(term) || (term < other ? -1 : 1));
    const hits = this.search(ordered.map((term) => [[term, 1]]), allowed).slice(0, most);
    const head = hits.slice(0, pool);
    const likeness = this.likeness(query, head.map(([slot]) => slot));
    const first = placesOf(head.map(([, score]) => score)), second = placesOf(likeness);
    const places = head.map(([, score], at) => 1 / (SMOOTHING + first.get(score)) + 1 / (SMOOTHING + second.get(likeness[at])));
    const order = head.map((_, at) => at).sort((at, other) => places[other] - places[at] || at - other);
    return [...order.map((at, place) => [head[at][0], head[place][1]]), ...hits.slice(pool)];
  }

  /* Returns the terms that have a run of characters, if it is a short one. */
  having(run) {
    if (run.length !== SHORTEST) return [];
    if (!this.near.has(run)) {
      this.marked ??= this.all.map((term) => `_${term}_`);
      this.near.set(run, this.all.filter((_, at) => this.marked[at].includes(run)));
    }
    return this.near.get(run);
  }

  /* Returns for each slot how many runs of characters its terms share with the query's. */
  likeness(query, slots) {
    if (!slots.length) return [];
    const asked = new Map();
    query.flatMap(runs).forEach((run) => asked.set(run, (asked.get(run) ?? 0) + 1));
    const frequencies = new Map();
    const near = new Map([...new Set([...asked.keys()].flatMap((run) => this.having(run)))].map((term) => [term, runs(term).filter((run) => asked.has(run))]));
    near.forEach((shared, term) => {
      const number = this.holders(term).length / 2;
      new Set(shared).forEach((run) => frequencies.set(run, (frequencies.get(run) ?? 0) + number));
    });
    const size = this.lengths.length, worth = new Map();
    frequencies.forEach((frequency, run) =>
      worth.set(run, (1 + Math.log(asked.get(run))) * (Math.log((1 + size) / (1 + Math.min(frequency, size))) + 1) ** 2));
    const totals = new Map(slots.map((slot) => [slot, 0]));
    near.forEach((shared, term) => {
      const weight = shared.reduce((sum, run) => sum + worth.get(run), 0);
      const holders = this.holders(term);
      for (let at = 0; at < holders.length; at += 2)
        if (totals.has(holders[at]))
          totals.set(holders[at], totals.get(holders[at]) + weight * (1 + Math.log(holders[at + 1])));
    });
    // The order of sums decides their last digits, which must not part what is equal.
    return slots.map((slot) => Number((totals.get(slot) / Math.sqrt(this.lengths[slot] || 1)).toPrecision(12)));
  }

  /* Returns slots with scores: what the words find, then what words find that begin with the last one; first those with an exact
     identifier. */
  found(text, { pool, most }, every) {
    const { terms, last, lastTerms, exact, only, corrected } = this.read(text);
    const allowed = only ? [...every].map((may, slot) => may && only.has(slot)) : every;
    const begun = last === undefined || corrected.has(last) ? [] : [...this.begun(last)].map((term) => [term, COMPLETED]);
    const isWhole = !begun.length || this.common.has(last) || this.term(last) !== null;
    const hits = isWhole ? this.ranked(terms, pool, most, allowed) : [];
    if (begun.length) {
      const slots = new Set(hits.map(([slot]) => slot));
      const groups = terms.slice(0, terms.length - lastTerms).map((term) => [[term, 1]]);
      const more = this.search([...groups, begun], allowed).filter(([slot]) => !slots.has(slot)).slice(0, most);
      const scale = hits.length && more.length ? hits.at(-1)[1] / (more[0][1] * 1.001) : 1;
      hits.push(...more.map(([slot, score]) => [slot, score * scale]));
    }
    if (!exact.size) return hits;
    const may = [...allowed].map((each, slot) => each && exact.has(slot)), first = this.ranked(terms, pool, most, may);
    const scores = new Map([...first, ...[...exact].filter((slot) => may[slot] && !first.some(([other]) => other === slot)).map((slot) => [slot, 0])]);
    const others = hits.filter(([slot]) => !exact.has(slot)), top = others[0]?.[1] ?? 0;
    return [...[...scores].map(([slot, score]) => [slot, top + score + 1]), ...others];
  }

  /* Returns a function that says of a piece of text whether the question finds it. */
  marker(text) {
    const { terms: list, last } = this.read(text);
    const terms = new Set(list);
    return (piece) => words(piece).some((word) => terms.has(this.term(word) ?? word) || (last && word.startsWith(last)));
  }
}

const LEAN = { pool: 0, most: 20, chunks: false }, BALANCED = { pool: 100, most: 100, chunks: true }, DEEP = { pool: 400, most: 400, chunks: true };
const IDENTIFIER = /^(?:#?\d+|[\p{L}\p{N}_#./:-]*(?:[a-z][A-Z]|_|::|[\p{L}\p{N}_][/.][\p{L}\p{N}_]|\d)[\p{L}\p{N}_#./:-]*)$/u;
const LONG = 15;
const budgetOf = (text) => {
  const pieces = text.trim().split(/\s+/);
  if (pieces.length === 1 && IDENTIFIER.test(pieces[0].replace(/^["'“”‘’«»`]+|["'“”‘’«»`]+$/g, ""))) return LEAN;
  return pieces.length > LONG || /[?？]\s*$/.test(text) ? DEEP : BALANCED;
};
const plain = (text) => text.toLowerCase().split(/\s+/).filter(Boolean).join(" ");

/* Returns the words of titles alone, in the form of the file of words, which is read after the first key. */
export const titleWords = ({ records }) => {
  const none = { lengths: [], norm: [1, 0], words: {}, terms: {} };
  const terms = {}, before = {};
  const lengths = records.map(([, title], row) => {
    const list = [...new Set(words(title))];
    for (const word of list) {
      (terms[word] ??= []).push(row - (before[word] ?? 0), 1);
      before[word] = row;
    }
    return list.length;
  });
  return { common: [], records: { ...none, lengths, terms, owners: [...records.keys()] }, pages: { ...none, pages: [], sections: [] } };
};

/* Returns what finds records and pages: each takes what is typed and returns numbers, the best first. */
export const finder = ({ records, looks, names }, data) => {
  const texts = new Texts(data.records, data.common), sections = new Texts(data.pages, data.common);
  const { owners } = data.records;
  const look = (row) => looks[records[row][2]];
  const rowsOf = new Map(Object.entries(names));
  records.forEach(([id], row) => {
    const number = id.match(/-0*(\d+)$/)?.[1]; // which may be typed alone
    if (number) rowsOf.set(number, [...(rowsOf.get(number) ?? []), row]);
  });
  const short = (id) => id.replace(/-0+(?=\d+$)/, "-"); // `adr-7` for `adr-0007`
  records.forEach(([id], row) => [short(id.toLowerCase()), id.toLowerCase()].forEach((form) => rowsOf.set(form, [row])));
  let plainTitles = null;

  /* Returns the records whose ids the text has, or begins, and the closed ones whose title it is. */
  const named = (text) => {
    const ids = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => word.replace(FRAME, "")).filter((word, _, { length }) => word.includes("-") || length === 1);
    const forms = ids.flatMap((id) => [id, short(id), id.replace(/^#?0*(?=\d+$)/, "")]); // an earlier id may be `0007`
    const rows = [...new Set(forms.flatMap((id) => rowsOf.get(id) ?? []))];
    const begun = rows.length || ids.length !== 1 || !ids[0].includes("-") ? [] : records.flatMap(([id], row) => (id.toLowerCase().startsWith(ids[0]) ? [row] : []));
    plainTitles ??= records.map(([, title]) => plain(title));
    const title = plain(text);
    const titled = plainTitles.flatMap((other, row) => (other === title ? [row] : []));
    return [...rows, ...begun, ...(titled.every((row) => look(row).closed) ? titled : [])];
  };

  /* Returns for each record what a text of it leads to: itself, or what took its place. */
  const leads = [false, true].map((everything) => {
    const isFound = (row) => everything || look(row).searched;
    return records.map(([, , , heirs = []], row) => (isFound(row) || !look(row).closed ? [row] : heirs).filter(isFound));
  });
  const slots = (everything, chunks) => owners.map((row, slot) => (chunks || row !== owners[slot - 1]) && leads[+everything][row].length > 0);
  const ranked = (text, budget, everything) => {
    const allowed = slots(everything, budget.chunks);
    const scores = new Map();
    const add = (row, score) => leads[+everything][row].forEach((heir) => scores.has(heir) || scores.set(heir, score));
    named(text).forEach((row) => add(row, Infinity));
    texts.found(text, budget, allowed).forEach(([slot, score]) => add(owners[slot], score));
    return [...scores].sort(([row, score], [other, more]) => more - score || row - other).map(([row]) => row);
  };

  return {
    names: (text) => named(text).length > 0,
    corrected: (text) => texts.read(text).corrected,
    records(text) {
      const { exact } = texts.read(text), isInParts = exact.size && [...exact].every((slot) => owners[slot] === owners[slot - 1]);
      const budget = isInParts && budgetOf(text) === LEAN ? BALANCED : budgetOf(text), first = ranked(text, budget, false);
      const rows = first.length || budget !== LEAN ? first : ranked(text, BALANCED, false);
      // A closed record that is named comes after what took its place; others that `orbit search` leaves out come last.
      const closed = named(text).filter((row) => look(row).closed).flatMap((row) => [...leads[0][row], row]);
      const rest = looks.every(({ searched }) => searched) ? [] : ranked(text, { ...BALANCED, pool: 0 }, true);
      return [...new Set([...closed, ...rows, ...rest])];
    },
    pages(text) {
      const best = new Map();
      for (const [slot] of sections.found(text, BALANCED, sections.lengths)) {
        const page = data.pages.sections[slot][0];
        if (!best.has(page)) best.set(page, slot);
      }
      return [...best.values()];
    },
    marker: (text) => {
      const [first, second] = [texts.marker(text), sections.marker(text)];
      return (piece) => first(piece) || second(piece);
    },
  };
};
