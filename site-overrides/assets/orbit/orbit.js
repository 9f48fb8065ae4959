/* What pages gain where scripts run; every page is complete without it. */
(() => {
  "use strict";
  const form = document.querySelector("[data-orbit-lookup]");
  if (!form) return;
  const input = form.querySelector("input");
  const said = form.querySelector("output");
  form.hidden = false;
  const wanted = location.pathname.split("/").filter(Boolean).pop();
  if (wanted && /^[\w.-]{3,}$/.test(wanted)) input.value = decodeURIComponent(wanted);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const id = input.value.trim();
    const root = new URL(form.dataset.orbitRoot, location);
    const answer = await fetch(new URL(form.dataset.orbitLookup, location));
    const held = (await answer.json()).records;
    const same = (name) => name.toLowerCase() === id.toLowerCase();
    const found = held.filter((record) => same(record.id) || record.legacy_ids.some((name) => same(name) || same(name.split("/").pop())));
    if (found.length === 1) location.assign(new URL(found[0].url, root));
    else said.textContent = found.length ? `${found.length} records have had this id: ${found.map((one) => one.id).join(", ")}` : "No record has or had this id.";
  });
})();
