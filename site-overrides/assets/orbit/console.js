/* Asks the snapshot in SQL: loads DuckDB at a click and shows rows; whatever a record says is text, never markup. */
const { orbitWords } = globalThis;
const MOST = 1000;
const form = document.querySelector(".orbit-console");
const asking = form.querySelector("[data-orbit-asking]");
const input = form.querySelector("textarea");
const start = form.querySelector("[data-orbit-start]");
const said = form.querySelector(".orbit-said");
const answer = form.querySelector(".orbit-answer");
const folder = new URL(form.dataset.orbitDuckdb, location);
const made = (tag, ...inside) => {
  const element = document.createElement(tag);
  element.append(...inside);
  return element;
};
const script = (address) =>
  new Promise((done, failed) => {
    const element = made("script");
    element.src = address;
    element.onload = done;
    element.onerror = () => failed(new Error(`${address} can't be loaded`));
    document.head.append(element);
  });

let connection = null;
const open = async () => {
  await script(new URL("arrow.js", folder).href);
  const duckdb = await import(new URL("duckdb.mjs", folder).href);
  /* As a blob the worker has this page's policy: it can ask no other host, whatever a query says. */
  const body = `importScripts(${JSON.stringify(new URL("worker.js", folder).href)})`;
  const worker = new Worker(URL.createObjectURL(new Blob([body], { type: "text/javascript" })));
  const database = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), worker);
  await database.instantiate(new URL("duckdb.wasm", folder).href);
  const file = await fetch(new URL(form.dataset.orbitSnapshot, location));
  if (!file.ok) throw new Error(`snapshot.duckdb: ${file.status} ${file.statusText}`);
  await database.registerFileBuffer("snapshot.duckdb", new Uint8Array(await file.arrayBuffer()));
  const opened = await database.connect();
  await opened.query("SET autoinstall_known_extensions = false");
  await opened.query("SET autoload_known_extensions = false");
  await opened.query("ATTACH 'snapshot.duckdb' AS snapshot (READ_ONLY)");
  await opened.query("USE snapshot");
  return opened;
};

/* DuckDB writes each value as its shell would; a statement that is no query is run unchanged. */
const asText = async (sql) => {
  try {
    return await connection.query(`SELECT COLUMNS(*)::VARCHAR FROM (\n${sql}\n) LIMIT ${MOST + 1}`);
  } catch {
    return connection.query(sql);
  }
};
const table = (rows) => {
  const columns = rows.schema.fields.map((field, place) => ({ name: field.name, values: rows.getChildAt(place) }));
  const head = made("tr", ...columns.map(({ name }) => Object.assign(made("th", name), { scope: "col" })));
  const cell = (value) => (value === null ? made("td", Object.assign(made("i", "null"), { className: "orbit-null" })) : made("td", String(value)));
  const body = made("tbody");
  for (let row = 0; row < Math.min(rows.numRows, MOST); row += 1) body.append(made("tr", ...columns.map(({ values }) => cell(values.get(row)))));
  return made("table", made("thead", head), body);
};
const run = async () => {
  const sql = input.value.trim().replace(/;+$/, "");
  if (!sql) return;
  said.textContent = orbitWords.word("console.asking");
  const began = performance.now();
  try {
    const rows = await asText(sql);
    const many = rows.numRows > MOST ? orbitWords.word("console.first", { n: MOST.toLocaleString(orbitWords.language) }) : orbitWords.counted("console.row", rows.numRows);
    answer.replaceChildren(table(rows));
    said.textContent = orbitWords.word("console.took", { rows: many, ms: Math.round(performance.now() - began) });
  } catch (error) {
    answer.replaceChildren(made("pre", made("code", error.message)));
    said.textContent = orbitWords.word("console.says");
  }
  answer.hidden = false;
  const address = new URL(location);
  address.searchParams.set("sql", sql);
  history.replaceState(null, "", address);
};

input.value = new URL(location).searchParams.get("sql") ?? document.querySelector("[data-orbit-sql]").textContent;
form.hidden = false;
document.querySelector("[data-orbit-asleep]").remove();
start.addEventListener("click", async () => {
  start.disabled = true;
  said.textContent = orbitWords.word("console.loading");
  try {
    connection = await open();
    start.parentElement.remove();
    asking.hidden = false;
    input.focus();
    said.textContent = "";
  } catch (error) {
    start.disabled = false;
    said.textContent = orbitWords.word("console.failed", { reason: error.message });
  }
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
input.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
for (const code of document.querySelectorAll("[data-orbit-sql]")) {
  const take = made("button", orbitWords.word("console.use"));
  take.type = "button";
  take.className = "orbit-take";
  take.addEventListener("click", () => {
    input.value = code.textContent;
    if (connection) run();
    (connection ? input : start).focus();
  });
  code.parentElement.before(take);
}
