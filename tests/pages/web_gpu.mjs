// Tests the evaluation of networks with WebGPU: node web_gpu.mjs CHROMIUM WEB TINY FOLDER
//
// The browser's software driver (SwiftShader) imitates a graphics card. It has no 16-bit numbers, and it compiles
// shaders slowly, so most tests use the network TINY.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { browse, check, equal, finish, watch } from "./browser.mjs";
import { startEngine } from "./engine_worker.mjs";
import { serve } from "./static_server.mjs";

const SOFTWARE = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
const [chromium, web, tiny, folder] = process.argv.slice(2);
const blank = '<!doctype html><link rel="icon" href="data:,"><title>Kosumi</title>';

// Counts batches, and makes the card fail when the page requests it.
const FAULTS = `let fault = "", batches = 0;
const channel = new BroadcastChannel("test");
channel.onmessage = ({ data }) => { if (data.fault !== undefined) fault = data.fault; };
const answered = async results => {
  channel.postMessage({ batches: ++batches });
  if (fault === "error") throw new Error("the card is made to fail");
  return results;
};
`;
const withFaults = text => FAULTS + text
  .replace("const results = await this.#executor.run(batch);\n    const [number]", "const results = await answered(await this.#executor.run(batch));\n    const [number]");
const change = (name, file) => {
  if (name === "gpu.js") {
    const text = withFaults(String(file));
    check(text.includes("await answered("), "the faults are put in");
    return text;
  }
  if (name === "card.js") {
    const text = String(file).replace("ACCEPTS_SOFTWARE = false", "ACCEPTS_SOFTWARE = true").replace("ACCEPTS_SLOW = false", "ACCEPTS_SLOW = true");
    check(text.includes("ACCEPTS_SLOW = true"), "software drivers are accepted");
    return text;
  }
  return name === "index.html" && isBlank ? blank : file;
};
let isBlank = true;
const server = await serve(web, { isIsolated: true, change });
const { url } = server;

await browse(chromium, { viewport: { width: 1280, height: 900 }, serviceWorkers: "block" }, async context => {
  let page = context.pages()[0];
  watch(page);
  await page.goto(url);

  // ---- The small network: the numbers are those of the processor ----

  const found = await page.evaluate(async () => {
    const { Instance, bytesOf, compiled, moduleName } = await import("./instance.js");
    const { Gpu, connect } = await import("./gpu.js");
    const refused = await connect().catch(error => error.message);
    const instance = new Instance(await compiled(moduleName()), 512, () => performance.now());
    const card = await connect({ acceptsSoftware: true });
    const gpu = await Gpu.open(instance, card, { network: await bytesOf("small.bin.gz") });
    const { name, isHalf, checks } = gpu;
    return { refused, name, isHalf, checks };
  });
  console.log(JSON.stringify(found));
  check(found.refused.includes("software"), "nobody gets a software driver who does not want one");
  equal(found.isHalf, false, "the software driver has no numbers of 16 bits");
  equal(found.checks.length, 1, "there is a check");
  for (const { probability, owner, lead } of found.checks) {
    check(probability < 2e-4 && owner < 2e-4 && lead < 2e-2, `the differences are small: ${JSON.stringify(found.checks)}`);
    check(probability > 0, "the card and the processor do not add in the same order");
  }

  // ---- The engine for programs ----

  const network = Array.from(readFileSync(tiny));
  await page.evaluate(network => {
    window.tiny = Uint8Array.from(network);
    window.batches = 0;
    window.channel = new BroadcastChannel("test");
    window.channel.onmessage = ({ data }) => { if (data.batches) window.batches = data.batches; };
  }, network);
  const ask = await startEngine(page);
  const create = options => page.evaluate(options => window.ask("create", { network: window.tiny, ...options }), options);
  const analyse = async options => ask("analyse", { visits: 200, reports: false, ...options });
  const batches = () => page.evaluate(() => window.batches);

  await create({ device: "cpu" });
  equal(await ask("device"), null, "the processor evaluates unless a card is wanted");
  await ask("setPosition", { size: 7, moves: ["D4", "D5"] });
  const byProcessor = await analyse();
  equal(await batches(), 0, "and the card does nothing");

  await create({ device: "gpu" });
  check(String(await ask("device")).includes("swiftshader"), `the card has a name: ${await ask("device")}`);
  await ask("setPosition", { size: 7, moves: ["D4", "D5"] });
  const byCard = await analyse();
  const count = await batches();
  check(count > 0 && count < byCard.visits, `${count} batches for ${byCard.visits} visits`);
  check(Math.abs(byCard.winRate - byProcessor.winRate) < .05, `win rates: ${byCard.winRate} and ${byProcessor.winRate}`);
  // Boards of several sizes, one after the other.
  for (const size of [5, [9, 4], 19]) {
    await ask("setPosition", { size });
    check((await analyse({ visits: 40 })).visits >= 40, `a board of ${size}`);
  }

  // The card fails, and the search continues with the processor.
  await ask("setPosition", { size: 7 });
  await page.evaluate(() => window.channel.postMessage({ fault: "error" }));
  check((await analyse({ visits: 300 })).visits >= 300, "the search goes on");
  check((await analyse({ visits: 320 })).visits >= 320, "and the next one, too");
  equal(await ask("device"), null, "without the card");
  await page.evaluate(() => window.channel.postMessage({ fault: "" }));

  // A card is requested where there cannot be one.
  const refusal = await create({ device: "gpu", network: null }).catch(error => error.message);
  check(refusal.includes("needs a network"), `a card without a network: ${refusal}`);
  const unknown = await create({ device: "abacus" }).catch(error => error.message);
  check(unknown.includes("cpu, gpu, auto"), `an unknown device: ${unknown}`);
  await create({ device: "auto" });
  equal(await ask("device"), null, "a software driver is not used unless it is demanded");

  // ---- The page ----

  isBlank = false;
  await page.close();
  page = await context.newPage();
  const isBlocked = words => words.startsWith("Service Worker registration blocked");
  watch(page, isBlocked);
  await page.goto(url);
  await page.waitForSelector("#network:not([hidden])");
  await page.click("#network");
  const hasCard = words => page.waitForFunction(words => document.getElementById("card-state").textContent.includes(words), words);
  await hasCard("The card evaluates the large network");
  const give = () => page.setInputFiles("#network-chosen", { name: "tiny.bin", mimeType: "application/octet-stream", buffer: readFileSync(tiny) });
  await give();
  await hasCard("The card evaluates: ");
  check(await page.isChecked("#network-file"), "the network of the file is in use");
  await page.screenshot({ path: join(folder, "web-card.png") });
  await page.keyboard.press("Escape");
  await page.evaluate(() => {
    window.batches = 0;
    window.channel = new BroadcastChannel("test");
    window.channel.onmessage = ({ data }) => { if (data.batches) window.batches = data.batches; };
  });
  await page.click("#hint");
  await page.waitForSelector("#board [data-region]");
  await page.waitForFunction(() => window.batches > 0);

  // The card is switched off and on again, also while it is being prepared.
  await page.click("#network");
  await page.uncheck("#network-card");
  await hasCard("The processor evaluates");
  await page.check("#network-card");
  await hasCard("is being prepared");
  await page.uncheck("#network-card");
  await hasCard("The processor evaluates");
  await page.check("#network-card");
  await hasCard("The card evaluates: ");
  await page.keyboard.press("Escape");

  // The card fails during an analysis, which continues.
  await page.click("#analyse");
  const before = await batches();
  await page.waitForFunction(before => window.batches > before + 2, before);
  await page.evaluate(() => window.channel.postMessage({ fault: "error" }));
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("a problem with the card: the card is made to fail"));
  await page.waitForSelector("#board [data-candidate]");
  await page.click("#analyse");
  await page.click("#hint");
  await page.waitForSelector("#board [data-region], #board [data-candidate]");
}, SOFTWARE);
await server.close();
await finish();
