/* Draws the page's Mermaid diagrams in the colours of the scheme; one that can't be drawn stays source. */

const TAG = /(?<!<)<(?=[a-z/!?])(?!br *\/?>)/gi; // text between brackets, which Mermaid would read as HTML
const LOADS = /\bimg\s*:|url\s*\(|@import/i; // what would ask an address for a picture or a style
const SECURE = ["dompurifyConfig", "htmlLabels", "maxEdges", "maxTextSize", "secure", "securityLevel", "startOnLoad", "suppressErrorRendering", "themeCSS"];
let drawings = 0;

async function draw(mermaid, box) {
  const source = box.querySelector("code").textContent.replace(TAG, "#lt;");
  if (LOADS.test(source)) return;
  const { svg } = await mermaid.render(`orbit-drawing-${++drawings}`, source);
  let drawn = box.nextElementSibling;
  if (!drawn?.classList.contains("orbit-drawn")) {
    drawn = document.createElement("div");
    drawn.className = "orbit-scroll orbit-drawn";
    drawn.attachShadow({ mode: "open" }); // its styles and ids are its own
    box.after(drawn);
  }
  drawn.shadowRoot.innerHTML = svg;
  const image = drawn.shadowRoot.firstElementChild;
  image.style.minWidth = `min(${image.style.maxWidth || "100%"}, 40rem)`;
  box.hidden = true;
}

async function drawAll(mermaid) {
  const dark = { theme: "dark", themeVariables: { edgeLabelBackground: "#444" } }; // its own grey is too light for its text
  const colours = document.body.dataset.mdColorScheme === "slate" ? dark : { theme: "neutral" };
  mermaid.initialize({ startOnLoad: false, securityLevel: "strict", secure: SECURE, suppressErrorRendering: true, ...colours });
  for (const box of document.querySelectorAll(".orbit-diagram")) await draw(mermaid, box).catch(() => {});
  dispatchEvent(new Event("resize")); // what scrolls is marked anew
}

const script = document.createElement("script");
script.src = new URL("mermaid/mermaid.tiny.js", import.meta.url);
script.addEventListener("load", () => {
  const { mermaid } = globalThis;
  if (!mermaid) return; // it could not be fetched
  let last = drawAll(mermaid);
  const again = () => (last = last.then(() => drawAll(mermaid)));
  new MutationObserver(again).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
});
document.head.append(script);
