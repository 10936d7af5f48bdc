// Tests the choice of a network on the page of `scripts/web`: node web_networks.mjs CHROMIUM WEB FOLDER
//
// The large network is downloaded, after an interrupted download, and stored. The page then uses it without its server.

import { statSync } from "node:fs";
import { join } from "node:path";
import { browse, check, checkWidth, equal, finish, watch } from "./browser.mjs";
import { serve } from "./static_server.mjs";
import { ready, shown } from "./table.mjs";

const [chromium, web, folder] = process.argv.slice(2);
const LARGE = "large.compact.gz";
const desktop = { viewport: { width: 1280, height: 900 } };

const hasStatus = (page, words) => page.waitForFunction(words => document.getElementById("status").textContent.includes(words), words);
const isHidden = (page, id) => page.$eval(`#${id}`, it => it.hidden);
const becomesHidden = (page, id, hidden) => page.waitForFunction(([id, hidden]) => document.getElementById(id).hidden === hidden, [id, hidden]);
const downloads = server => server.requests.filter(it => it.endsWith(LARGE)).length;

async function openDialog(page) {
  await page.waitForSelector("#network:not([hidden])");
  await page.click("#network");
  await page.waitForSelector("#networks[open]");
}

// Each download waits in the middle until it is released.
let release, isHeld;
const holding = () => new Promise(resolve => { isHeld = resolve; });
const held = () => new Promise(resolve => { release = resolve; isHeld(); });
const server = await serve(web, { half: name => name === LARGE ? held() : null });
await browse(chromium, desktop, async context => {
  let page = context.pages()[0];
  watch(page);
  await ready(page, server.url);
  await openDialog(page);
  check(await page.isChecked("#network-small"), "the small network is in use at first");
  check((await page.textContent("#network-size")).includes("5.9 MB to download"), "the size of the large one is stated");
  equal(await isHidden(page, "network-delete"), true, "nothing is kept");
  equal(downloads(server), 0, "nothing is downloaded before it is wanted");
  await checkWidth(page, "networks");

  // The download stops in the middle, and the page shows its progress. Then it is cancelled.
  let halfway = holding();
  await page.check("#network-large");
  await halfway;
  await page.waitForFunction(() => document.getElementById("network-progress").value > 2e6);
  equal(await page.$eval("#network-progress", it => it.max), statSync(join(web, LARGE)).size, "the progress is in bytes");
  check(/^[1-9]\.\d of 5\.9 MB$/.test(await page.textContent("#network-amount")), "and in words");
  await page.screenshot({ path: join(folder, "web-networks.png") });
  await page.click("#network-stop");
  await becomesHidden(page, "network-loading", true);
  check(await page.isChecked("#network-small"), "the small network stays in use");
  release();

  // Then the network is downloaded completely.
  halfway = holding();
  await page.check("#network-large");
  await halfway;
  release();
  await hasStatus(page, "Large network");
  await becomesHidden(page, "network-delete", false);
  check((await page.textContent("#network-size")).includes("kept"), "the large network is kept");
  await page.keyboard.press("Escape");
  await page.click("#hint");
  await page.waitForSelector("#board [data-region]");
  const before = downloads(server);

  // Without the server, the page still has the network.
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForFunction(async () => (await caches.keys()).length > 1);
  await server.close();
  await page.close();
  page = await context.newPage();
  watch(page);
  await ready(page, server.url);
  await hasStatus(page, "Large network");
  await page.click("#hint");
  await page.waitForSelector("#board [data-region]");
  equal(downloads(server), before, "it is not downloaded again");

  // The network is deleted, and the small one is used.
  await openDialog(page);
  check(await page.isChecked("#network-large"), "the choice is remembered");
  await page.click("#network-delete");
  await becomesHidden(page, "network-delete", true);
  check(await page.isChecked("#network-small"), "the small network is in use again");
  equal(await page.evaluate(async () => {
    const cache = await caches.open("networks of kosumi");
    return (await cache.keys()).filter(it => it.url.includes("large")).length;
  }), 0, "the large network is deleted");
  await page.keyboard.press("Escape");
  await page.reload();
  await shown(page);
  await openDialog(page);
  check(await page.isChecked("#network-small"), "and after the next start, too");
});
await finish();
