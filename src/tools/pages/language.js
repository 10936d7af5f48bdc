// Texts of a page in the reader's language: the language chosen on any of Kosumi's pages, otherwise the browser's.
// `TEXTS` has a table for each language. A text may contain {names}, which are replaced by values. This script must not
// contain angle brackets or ampersands, because it is also part of pages that are read as XML.
const kept = name => { try { return localStorage.getItem(name); } catch { return null; } };
const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* Nothing may be kept here. */ } };
const languages = Object.keys(TEXTS);
let language = [kept("language"), ...(navigator.languages || [])].map(name => (name || "").slice(0, 2))
  .find(name => languages.includes(name)) || "en";
const text = (name, values = {}) => (TEXTS[language][name] ?? TEXTS.en[name] ?? name)
  .replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

// Fills in the texts that the markup names: `data-text` for the content, with `data-values`; `data-label` for screen
// readers; `data-hint` for the tooltip, followed by `data-key`.
function translate() {
  document.documentElement.lang = language;
  const valuesOf = it => it.dataset.values ? JSON.parse(it.dataset.values) : {};
  for (const it of document.querySelectorAll("[data-text]")) it.textContent = text(it.dataset.text, valuesOf(it));
  for (const it of document.querySelectorAll("[data-label]")) it.setAttribute("aria-label", text(it.dataset.label, valuesOf(it)));
  for (const it of document.querySelectorAll("[data-hint], [data-key]")) {
    const { hint, label, key } = it.dataset, words = hint || label ? text(hint || label) : it.textContent;
    it.title = key ? `${words} (${key})` : words;
  }
}

// Fills the choice of languages. `then` is called at the start and whenever another language is chosen.
function takeLanguage(then) {
  const select = document.getElementById("language");
  select.replaceChildren(...languages.map(name => new Option(TEXTS[name]["language-name"], name, false, name === language)));
  select.closest("[hidden]")?.removeAttribute("hidden");
  const change = () => { translate(); if (then) then(); };
  select.addEventListener("change", event => { language = event.target.value; keep("language", language); change(); });
  change();
}
