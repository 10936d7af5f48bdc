// Texts of a page in the reader's language: the language chosen on any of Kosumi's pages, otherwise the browser's.
// `TEXTS` has a table for each language, and `OTHERS` has the names of the languages whose tables are compressed in
// `PACKED` or, if `PACKED` is empty, must be loaded. A text may contain {names}, which are replaced by values. This
// script must not contain angle brackets or ampersands, because it is also part of pages that are read as XML.
const kept = name => { try { return localStorage.getItem(name); } catch { return null; } };
const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* Nothing may be kept here. */ } };
const languages = [...Object.keys(TEXTS), ...Object.keys(OTHERS)];
let language = [kept("language"), ...(navigator.languages || [])].map(name => (name || "").slice(0, 2))
  .find(name => languages.includes(name)) || "en";
// Returns a number written in English (1,234 or -5.5 or B+3.5 or 12.5 %) with the separators of the reader's language.
const localized = number => {
  const words = String(number), { "decimal-mark": decimalMark, "group-mark": groupMark } = TEXTS[language] ?? TEXTS.en;
  if (/^\d{1,3}(,\d{3})+$/.test(words)) return words.replace(/,/g, groupMark);
  return /^([BW]\+|[−-])?\d+\.\d+( %| p)?$/.test(words) ? words.replace(".", decimalMark) : words;
};
// Returns a number with this many decimals. A number that rounds to zero has no sign.
const decimal = (number, digits) => localized(number.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1"));
const text = (name, values = {}) => (TEXTS[language]?.[name] ?? TEXTS.en[name] ?? name)
  .replace(/\{(\w+)\}/g, (_, key) => localized(values[key] ?? ""));

// Fills in the texts that the markup names: `data-text` for the content, with the values of `data-values`; `data-label`
// for screen readers; `data-hint` for the tooltip, followed by `data-key`.
function translate() {
  document.documentElement.lang = TEXTS[language] ? language : "en";
  const valuesOf = it => it.dataset.values ? JSON.parse(it.dataset.values) : {};
  for (const it of document.querySelectorAll("[data-text]")) it.textContent = text(it.dataset.text, valuesOf(it));
  for (const it of document.querySelectorAll("[data-label]")) it.setAttribute("aria-label", text(it.dataset.label, valuesOf(it)));
  // Until it is translated, the markup has numbers in English form.
  for (const it of document.querySelectorAll("[data-number]")) {
    it.dataset.number ||= it.textContent;
    it.textContent = localized(it.dataset.number);
  }
  for (const it of document.querySelectorAll("[data-hint], [data-key]")) {
    const { hint, label, key } = it.dataset, words = hint || label ? text(hint || label) : it.textContent;
    it.title = key ? `${words} (${key})` : words;
  }
}

// Unpacks the tables of all languages that the page contains in compressed form: their texts in the order of the names.
async function unpackLanguages() {
  const bytes = Uint8Array.from(atob(PACKED), letter => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const names = Object.keys(TEXTS.en).sort();
  for (const [code, texts] of Object.entries(await new Response(unpacked).json())) {
    TEXTS[code] = Object.fromEntries(names.map((name, index) => [name, texts[index]]));
  }
}

// Loads the table of a language. Returns whether there is one.
async function readLanguage(name) {
  try {
    if (!TEXTS[name]) {
      if (PACKED) await unpackLanguages();
      else TEXTS[name] = await (await fetch(`texts-${name}.json`)).json();
    }
    return true;
  } catch {
    return false;
  }
}

// Fills the menu of languages. `then` is called at the start and whenever another language is chosen.
function takeLanguage(then) {
  const select = document.getElementById("language");
  const nameOf = name => TEXTS[name]?.["language-name"] ?? OTHERS[name];
  select.replaceChildren(...languages.map(name => new Option(nameOf(name), name, false, name === language)));
  select.closest("[hidden]")?.removeAttribute("hidden");
  const page = document.documentElement;
  const change = () => { delete page.dataset.waits; translate(); if (then) then(); };
  // Shows the language as soon as its table is loaded, unless another one was chosen meanwhile. If the table cannot be
  // loaded, the page stays as it is, or is in English.
  const show = async () => {
    const wanted = language, isThere = await readLanguage(wanted);
    if (wanted === language ? isThere || "waits" in page.dataset : false) change();
  };
  select.addEventListener("change", event => {
    language = event.target.value;
    keep("language", language);
    if (TEXTS[language]) change();
    else show();
  });
  // A page whose texts are all filled in by scripts is hidden until its language is loaded, so that English does not
  // flash up first. On a slow connection it is not hidden for long.
  if (TEXTS[language] || PACKED) change();
  else {
    page.dataset.waits = "";
    setTimeout(() => { if ("waits" in page.dataset) change(); }, 2000);
  }
  if (!TEXTS[language]) show();
}
