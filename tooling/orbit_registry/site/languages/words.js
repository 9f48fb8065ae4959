/* The words of the scripts in the language of the site; language.py fills this in. */
globalThis.orbitWords = {
  words: @words@,
  language: @language@,
  word(key, values = {}) {
    return this.words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  },
  counted(key, number, values = {}) {
    return this.word(`${key}.${number === 1 ? "one" : "other"}`, { n: number.toLocaleString(this.language), ...values });
  },
};
