// Settings of the reader that do not depend on the game: appearance of the board, colours, coordinates, and the sound
// of stones. In the browser's storage their names begin with `comfort-`, so that the settings of earlier versions apply.
class Appearance {
  constructor(change) {
    this.change = change;
    const { dataset } = document.documentElement;
    for (const input of document.querySelectorAll("[data-appearance]")) {
      const name = input.dataset.appearance, isBox = input.type === "checkbox", known = kept(`comfort-${name}`);
      if (isBox && known !== null) input.checked = known === "on";
      if (!isBox && Array.from(input.options).some(({ value }) => value === known)) input.value = known;
      const take = () => {
        this[name] = dataset[name] = isBox ? (input.checked ? "on" : "off") : input.value;
      };
      take();
      input.addEventListener("change", () => {
        take();
        keep(`comfort-${name}`, this[name]);
        if (name === "sound") this.play();
        change();
      });
    }
  }

  // Plays the sound of a stone on wood: a burst of noise that a filter makes dull and that fades at once.
  play() {
    if (this.sound !== "on") return;
    try {
      const context = this.context ||= new AudioContext(), rate = context.sampleRate;
      const buffer = context.createBuffer(1, Math.round(rate * .08), rate), samples = buffer.getChannelData(0);
      for (let at = 0; at < samples.length; at++) samples[at] = (Math.random() * 2 - 1) * Math.exp(-at / (rate * .012));
      const source = context.createBufferSource(), filter = context.createBiquadFilter();
      source.buffer = buffer;
      Object.assign(filter, { type: "bandpass" });
      filter.frequency.value = 1700;
      source.connect(filter).connect(context.destination);
      source.start();
    } catch { /* A browser without sound. */ }
  }
}
