// Keys of a page on which a game is studied. A letter presses the button that names it in `data-key`, with "Shift"
// before the letter if both are needed, so a key does what its button does.

// `main(number)` returns the node of the main line that a node follows, `target(to)` returns the node for a value of
// `MOVE_KEYS`, and `escape()` ends what only this page has. `others` are actions for keys without a button.
function takeKeys({ cursor, candidates, problems, tree, at, go, main, target, escape = () => {}, others }) {
  const reach = number => { if (number !== undefined && number !== at()) go(number); };
  const actions = {
    Escape() { candidates.set(null, false); cursor().place(-1); escape(); },
    V: () => reach(tree.beside(at(), 1)),
    "Shift V": () => reach(tree.beside(at(), -1)),
    G: () => reach(main(at())),
    ...others,
  };
  document.addEventListener("keydown", event => {
    const { key, code, target: on } = event;
    if (event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (!cursor() || on.closest?.("input:not([type=range]), select, textarea")) return;
    // Letters of other scripts, and letters that Alt replaces, are identified by their place on the keyboard.
    const letter = /^[a-z]$/i.test(key) ? key.toUpperCase() : code?.startsWith("Key") ? code[3] : key;
    if (event.altKey) {
      const candidate = problems.current ? null : candidates.list[letter.charCodeAt(0) - 65];
      if (!candidate?.line || letter.length > 1) return;
      candidates.pin(candidate);
    } else if (cursor().key(event)) { /* The board has taken it. */ }
    else if (key in MOVE_KEYS) go(target(MOVE_KEYS[key]));
    else {
      const name = event.shiftKey && /^[A-Z]$/.test(letter) ? `Shift ${letter}` : letter;
      const button = Array.from(document.querySelectorAll("[data-key]"))
        .find(it => it.dataset.key === name && !it.disabled && it.offsetParent);
      if (!actions[name] && !button) return;
      if (actions[name]) actions[name](); else button.click();
    }
    event.preventDefault();
  });
}
