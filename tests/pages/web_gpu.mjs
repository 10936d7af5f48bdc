// Tests the evaluation of networks with WebGPU: node web_gpu.mjs CHROMIUM FOLDER
//
// The browser's software driver (SwiftShader) imitates a graphics card. It has no numbers of 16 bits.

import { browse, check, equal, finish, watch } from "./browser.mjs";
import { serve } from "./static_server.mjs";

const SOFTWARE = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
const [chromium, folder] = process.argv.slice(2);
const blank = '<!doctype html><link rel="icon" href="data:,"><title>Kosumi</title>';
const server = await serve(folder, { change: (name, file) => name === "index.html" ? blank : file });

await browse(chromium, {}, async context => {
  const page = context.pages()[0];
  watch(page);
  await page.goto(server.url);
  const found = await page.evaluate(async () => {
    const { Instance, bytesOf, compiled, moduleName } = await import("./instance.js");
    const { Gpu, connect } = await import("./gpu.js");
    const instance = new Instance(await compiled(moduleName()), 512, () => performance.now());
    const card = await connect({ acceptsSoftware: true });
    const network = await bytesOf("small.bin.gz");
    const start = performance.now();
    const gpu = await Gpu.open(instance, card, { network });
    const { name, isHalf, checks } = gpu;
    return { name, isHalf, checks, milliseconds: performance.now() - start };
  });
  console.log(JSON.stringify(found));
  equal(found.isHalf, false, "the software driver has no numbers of 16 bits");
}, SOFTWARE);
await server.close();
await finish();
