/* Finds records by the terms that `orbit search` finds them by (search/terms.py, search/stemming.py); it draws nothing. */
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
const WHOLE = new Map(Object.entries({ skis: "ski", skies: "sky", idly: "idl", gently: "gentl", ugly: "ugli", early: "earli", only: "onli", singly: "singl", sky: "sky", news: "news", howe: "howe", atlas: "atlas", cosmos: "cosmos", bias: "bias", andes: "andes" })); // codespell:ignore singl
const AFTER_PLURAL = new Set(["inning", "outing", "evening", "canning", "herring", "earring", "proceed", "exceed", "succeed"]);
const REGIONS = ["gener", "commun", "arsen", "univers", "later", "emerg", "organ", "inter"]; // codespell:ignore commun
const DOUBLES = new Set(["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"]);
const STEP_2 = "ization=ize ational=ate fulness=ful ousness=ous iveness=ive tional=tion biliti=ble lessli=less entli=ent ation=ate alism=al aliti=al ousli=ous iviti=ive fulli=ful enci=ence anci=ance abli=able izer=ize ator=ate alli=al bli=ble ogi=og li=".split(" ").map((one) => one.split("="));
const STEP_3 = "ational=ate tional=tion alize=al icate=ic iciti=ic ative= ical=ic ness= ful=".split(" ").map((one) => one.split("=")); // codespell:ignore ative
const STEP_4 = "ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic".split(" "); // codespell:ignore ment
const vowel = (letter) => letter !== undefined && "aeiouy".includes(letter);
const hasVowel = (part) => [...part].some(vowel);

const region = (word, start) => {
  for (let at = start + 1; at < word.length; at++) if (!vowel(word[at]) && vowel(word[at - 1])) return at + 1;
  return word.length;
};

const short = (word) => {
  const [c, b, a] = [...word].reverse();
  if (word.length === 2) return vowel(b) && !vowel(c);
  return word.length > 2 && !vowel(c) && !"wxY".includes(c) && vowel(b) && !vowel(a);
};

const withoutPlural = (word) => {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (/ie[ds]$/.test(word)) return word.slice(0, word.length > 4 ? -2 : -1);
  return word.endsWith("s") && !/[us]s$/.test(word) && hasVowel(word.slice(0, -2)) ? word.slice(0, -1) : word;
};

const withoutEdOrIng = (word, first) => {
  const eed = /(.*?)(?:eedly|eed)$/.exec(word);
  if (eed) return eed[1].length >= first ? `${eed[1]}ee` : word;
  const suffix = ["ingly", "edly", "ing", "ed"].find((one) => word.endsWith(one));
  const rest = suffix && word.slice(0, -suffix.length);
  if (!rest || !hasVowel(rest)) return word;
  if (suffix === "ing" && rest.length === 2 && rest[1] === "y") return `${rest[0]}ie`;
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (DOUBLES.has(rest.slice(-2)) && !(rest.length === 3 && "aeo".includes(rest[0]))) return rest.slice(0, -1);
  return first >= rest.length && short(rest) ? `${rest}e` : rest;
};

const step = (word, table, fits) => {
  const found = table.find(([suffix]) => word.endsWith(suffix));
  if (!found) return word;
  const rest = word.slice(0, word.length - found[0].length);
  return fits(found[0], rest) ? rest + found[1] : word;
};

/* Returns the stem of a lower-case English word. */
export const stem = (given) => {
  if (given.length <= 2) return given;
  if (WHOLE.has(given)) return WHOLE.get(given);
  const letters = [...given];
  letters.forEach((letter, at) => letter === "y" && (at === 0 || vowel(letters[at - 1])) && (letters[at] = "Y"));
  let word = letters.join("");
  const first = REGIONS.find((one) => word.startsWith(one))?.length ?? region(word, 0);
  const second = region(word, first);
  word = withoutPlural(word);
  if (AFTER_PLURAL.has(word)) return word;
  word = withoutEdOrIng(word, first);
  if (/[yY]$/.test(word) && word.length > 2 && !vowel(word.at(-2))) word = `${word.slice(0, -1)}i`;
  word = step(word, STEP_2, (suffix, rest) => rest.length >= first && (suffix !== "ogi" || rest.endsWith("l")) && (suffix !== "li" || /[cdeghkmnrt]$/.test(rest)));
  word = step(word, STEP_3, (suffix, rest) => rest.length >= (suffix === "ative" ? second : first)); // codespell:ignore ative
  word = step(word, STEP_4.map((suffix) => [suffix, ""]), (suffix, rest) => rest.length >= second && (suffix !== "ion" || /[st]$/.test(rest)));
  const rest = word.slice(0, -1);
  if (word.endsWith("e") && (rest.length >= second || (rest.length >= first && !short(rest)))) word = rest;
  else if (word.endsWith("ll") && rest.length >= second) word = rest;
  return word.replaceAll("Y", "y");
};

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

/* Returns the terms of a text with what was written for each; `common` words are none. */
export const terms = (text, common) => {
  const found = [];
  for (const piece of text.normalize("NFKC").match(PIECE) ?? []) {
    for (const word of piece.match(WORD) ?? []) {
      for (const part of HEX.test(word) ? [word] : parts(word)) {
        const letters = [...part];
        if (UNSPACED.test(part)) {
          for (let at = 0; at < Math.max(letters.length - 1, 1); at++) found.push({ term: letters.slice(at, at + 2).join(""), written: part });
          continue;
        }
        const lower = [...part.toLowerCase()].slice(0, LONGEST).join("");
        if (HEX.test(word)) found.push({ term: word, written: word });
        else if (!common.has(lower)) found.push({ term: /^[a-z]+$/.test(lower) ? stem(lower) : lower, written: lower });
      }
    }
  }
  return found;
};

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
const VALUE = new Uint8Array(128);
[...DIGITS].forEach((digit, value) => (VALUE[digit.charCodeAt(0)] = value));
const WEIGHT = [0, 1, 2.5, 3.5, 3, 4, 5.5, 6.5]; // by the fields: 1 the first line, 2 other words, 4 the title

/* Returns the records that hold the term of a line, each eight times its number plus the fields. */
const postings = (line) => {
  const found = [];
  let row = 0;
  for (let at = line.indexOf(" ") + 1; at < line.length; at++) {
    let number = 0;
    for (; at < line.length && line.charCodeAt(at) !== 32; at++) number = number * 36 + VALUE[line.charCodeAt(at)];
    row += number >> 3;
    found.push(row * 8 + (number & 7));
  }
  return Int32Array.from(found);
};

/* Returns a function from what is typed to how many records that finds, the numbers of the `most` best, and which
   of them it names; the last word may be the start of one. `lines` are the terms. What is no longer in force, which `orbit search` leaves out by itself,
   counts half. */
export const finder = ({ ids, look, looks, names = {}, common }, lines) => {
  const closed = looks.map(([, css]) => css.startsWith("orbit-closed"));
  const known = new Set(common);
  const read = new Map();
  const reached = ({ term, written }, open) => {
    const scores = new Float64Array(ids.length);
    const exact = `${term} `;
    for (const line of lines) {
      const isTerm = line.startsWith(exact);
      if (!isTerm && !(open && line.startsWith(written))) continue;
      if (!read.has(line)) read.set(line, postings(line));
      const held = read.get(line);
      const rare = Math.log(1 + (ids.length - held.length + 0.5) / (held.length + 0.5)) * (isTerm ? 1 : 0.5);
      for (const one of held) scores[one >> 3] = Math.max(scores[one >> 3], WEIGHT[one & 7] * rare);
    }
    return scores;
  };
  return (typed, most) => {
    const asked = terms(typed, known);
    const open = /[\p{L}\p{N}]$/u.test(typed);
    const all = asked.map((one, at) => reached(one, open && at === asked.length - 1));
    const id = typed.trim().toLowerCase();
    const named = Object.hasOwn(names, id) ? names[id] : [];
    const holds = (row) => all.length && all.every((scores) => scores[row]);
    const whole = ids.some((_, row) => holds(row));
    const rows = [];
    const score = new Float64Array(ids.length);
    let number = 0;
    for (let row = 0; row < ids.length; row++) {
      if (!whole || holds(row)) for (const scores of all) score[row] += scores[row];
      if (closed[look[row]]) score[row] /= 2;
      if (id.length > 2 && ids[row].toLowerCase().startsWith(id)) score[row] += ids[row].length === id.length ? 1e6 : 1e3;
      if (named.includes(row)) score[row] += 1e6;
      if (!score[row]) continue;
      number++;
      if (rows.length === most && score[row] <= score[rows.at(-1)]) continue;
      const place = rows.findIndex((other) => score[other] < score[row]);
      rows.splice(place < 0 ? rows.length : place, 0, row);
      rows.length = Math.min(rows.length, most);
    }
    return { number, rows, named: rows.filter((row) => score[row] >= 1e3) };
  };
};
