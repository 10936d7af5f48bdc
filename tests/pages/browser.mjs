// Starts a browser without a network, and checks that every page must pass.

import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";

const ARGUMENTS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

// Maximum time that a page may take for anything, in milliseconds. It is long, because a busy machine is slow.
const PATIENCE = 120_000;

let failures = 0;

export function check(condition, message) {
  if (!condition) {
    failures += 1;
    console.error(`FAIL ${message}`);
  }
}

export function equal(found, expected, message) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  check(a === b, `${message}: found ${a}, expected ${b}`);
}

export async function finish() {
  await browser?.close();
  console.log(failures ? `${failures} failed` : "all well");
  process.exitCode = failures ? 1 : 0;
}

// Opens a file in a new window and calls `visit(page, context)`. Any network request or console message is a failure.
export async function open(executablePath, file, options, visit) {
  const url = pathToFileURL(file).href;
  await browse(executablePath, options, async context => {
    const page = context.pages()[0];
    page.on("request", request => check(request.url().split("#")[0] === url, `request of ${request.url()}`));
    watch(page);
    await page.goto(url + (options.hash ?? ""));
    await visit(page, context);
  });
}

// Makes every console message a failure, unless `expected` returns true because it belongs to the test.
export function watch(page, expected = () => false) {
  page.on("console", message => check(!["error", "warning"].includes(message.type()) || expected(message.text()),
    `console: ${message.text()}`));
  page.on("pageerror", error => check(false, `error in the page: ${error}`));
}

// The browser, which is started only once.
let browser;

// Opens a window without stored data, with one empty page. The first call may give the browser further arguments.
export async function browse(executablePath, options, visit, further = []) {
  browser ??= await chromium.launch({ executablePath, headless: true, args: [...ARGUMENTS, ...further] });
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE);
  try {
    await context.newPage();
    await visit(context);
  } finally {
    await context.close();
  }
}

// Drops a file on an element, as if it were dragged from another window.
export async function drop(page, selector, name, text) {
  const transfer = await page.evaluateHandle(([name, text]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], name, { type: "application/x-go-sgf" }));
    return transfer;
  }, [name, text]);
  for (const kind of ["dragenter", "dragover"]) await page.dispatchEvent(selector, kind, { dataTransfer: transfer });
  await page.dispatchEvent(selector, "drop", { dataTransfer: transfer });
}

// Checks that nothing is wider than the window.
export async function checkWidth(page, name) {
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  check(wide <= window, `${name}: the page is ${wide} wide, the window ${window}`);
}

// Checks the contrast of text against its background, as WCAG 2 defines it.
export async function checkContrast(page, name, selectors) {
  const found = await page.evaluate(selectors => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = color => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return Array.from(canvas.getImageData(0, 0, 1, 1).data);
    };
    const over = (front, back) => front.slice(0, 3).map((c, i) => (c * front[3] + back[i] * (255 - front[3])) / 255);
    const background = element => {
      const own = rgba(getComputedStyle(element).backgroundColor);
      if (own[3] === 255) return own.slice(0, 3);
      const behind = element.parentElement ? background(element.parentElement) : [255, 255, 255];
      return own[3] === 0 ? behind : over(own, behind);
    };
    const luminance = rgb => {
      const [r, g, b] = rgb.map(c => c / 255).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
      return .2126 * r + .7152 * g + .0722 * b;
    };
    return selectors.flatMap(selector => Array.from(document.querySelectorAll(selector), element => {
      if (!element.getClientRects().length || element.disabled) return null;
      const back = background(element);
      const [a, b] = [luminance(over(rgba(getComputedStyle(element).color), back)), luminance(back)];
      return [selector, Math.round(100 * (Math.max(a, b) + .05) / (Math.min(a, b) + .05)) / 100];
    }).filter(Boolean));
  }, selectors);
  for (const [selector, contrast] of found) check(contrast >= 4.5, `${name}: contrast of ${selector} is ${contrast}`);
  check(found.length >= selectors.length, `${name}: ${found.length} elements looked at`);
}
