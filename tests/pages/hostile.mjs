// Attacks the server of `kosumi play`: node hostile.mjs CHROMIUM KOSUMI FOLDER
//
// The attacks come from a page of another site in the same browser, through another host name, with requests that no
// browser sends, and with excessive sizes and numbers. Afterwards the server must still run and the game must be
// unchanged.

import { createServer } from "node:http";
import { connect } from "node:net";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browse, check, equal, finish } from "./browser.mjs";
import { start } from "./server.mjs";
import { ready } from "./table.mjs";

const [chromium, kosumi, folder] = process.argv.slice(2);
const server = await start(kosumi, ["play", "--no-open", "--threads", "1", "--memory", "32", "--no-model"]);
const url = new URL(server.url), port = Number(url.port), token = url.pathname.split("/")[1];
equal(url.hostname, "127.0.0.1", "the server listens on this machine alone");
check(/^[0-9a-f]{32}$/.test(token), `the token is random and long: ${token}`);

// Sends bytes, and returns the response until the other side closes the connection or `time` milliseconds have passed.
function send(bytes, time = 3000, to = port) {
  return new Promise(resolve => {
    const socket = connect(to, "127.0.0.1"), parts = [];
    const timer = setTimeout(() => { socket.destroy(); resolve(`${Buffer.concat(parts).toString("latin1")}[open]`); }, time);
    const end = () => { clearTimeout(timer); resolve(Buffer.concat(parts).toString("latin1")); };
    socket.on("data", part => parts.push(part));
    socket.on("error", end);
    socket.on("close", end);
    socket.on("connect", () => { if (bytes.length) socket.write(bytes); });
  });
}
const status = answer => answer.split(" ")[1] || "none";
const request = (target, lines = [], method = "GET") =>
  send(`${method} ${target} HTTP/1.1\r\n${[`Host: 127.0.0.1:${port}`, ...lines].join("\r\n")}\r\n\r\n`);
const only = (target, lines) => send(`GET ${target} HTTP/1.1\r\n${lines.map(line => `${line}\r\n`).join("")}\r\n`);
const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];

// All responses have these headers, including errors.
const page = await request(`/${token}/`, ["Sec-Fetch-Site: none"]);
equal(status(page), "200", "the page itself");
for (const answer of [page, await request("/"), await request(`/${token}/nothing`)]) {
  for (const line of ["Content-Security-Policy: default-src 'none'", "X-Frame-Options: DENY", "X-Content-Type-Options: nosniff",
    "Referrer-Policy: no-referrer", "Cross-Origin-Resource-Policy: same-origin", "Cache-Control: no-store"]) {
    check(answer.includes(line), `${line} in ${answer.slice(0, 60)}`);
  }
  check(!/Access-Control/i.test(answer), "no other site is ever let in");
}

// Requests without the token, for another host name, from another site, or for files.
for (const target of ["/", "/play.js", "/socket", `/${token.slice(0, -1)}/`, `/${token}0/`, `/${token.toUpperCase()}x/`, "/once/", `/once/${token}`,
  "/../../etc/passwd", `/${token}/../../../etc/passwd`, `/${token}/%2e%2e/Cargo.toml`, `/${token}//etc/passwd`, `/${token}/.git/config`]) {
  equal(status(await request(target)), "404", target);
}
for (const lines of [["Host: evil.example"], [`Host: evil.example:${port}`], [`Host: 127.0.0.1.evil.example:${port}`], ["Host: 127.0.0.1"], [],
  [`Host: 127.0.0.1:${port}`, `Host: evil.example:${port}`]]) {
  equal(status(await only(`/${token}/`, lines)), "403", `${lines}`);
}
for (const line of ["Origin: http://evil.example", "Origin: null", "Origin: file://", `Origin: http://localhost:${port}`, "Sec-Fetch-Site: cross-site"]) {
  equal(status(await request(`/${token}/`, [line])), "403", line);
  equal(status(await request(`/${token}/socket`, [...upgrade, line])), "403", `WebSocket, ${line}`);
}
equal(status(await request(`/${token}/socket`, upgrade)), "403", "a WebSocket without an origin");
for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT"]) {
  check(["405", "400"].includes(status(await request(`/${token}/`, [], method))), method);
}

// Bytes that are not requests, and requests that are too large.
for (const [name, bytes] of [["zeros", Buffer.alloc(1000)], ["random bytes", randomBytes(4000)], ["TLS", Buffer.from("160301020001", "hex")],
  ["a body", `POST /${token}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 5\r\n\r\nhello`],
  ["two requests", `GET /${token}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(2)],
  ["a long line", `GET /${"x".repeat(1 << 20)} HTTP/1.1\r\n\r\n`],
  ["many headers", `GET / HTTP/1.1\r\n${"A: b\r\n".repeat(10_000)}\r\n`]]) {
  const answer = await send(bytes, 8000);
  check(!answer.includes("200 OK") && !answer.endsWith("[open]"), `${name}: ${answer.slice(0, 40)}`);
}
const slow = await Promise.all(Array.from({ length: 200 }, () => send("GET / HT", 9000)));
check(slow.every(answer => !answer.endsWith("[open]")), "a client that never finishes a request is not waited for");
equal(status(await request(`/${token}/`)), "200", "and the page is served again");

await browse(chromium, {}, async context => {
  const game = context.pages()[0];
  await ready(game, server.url);

  // A page of another site that knows everything, even the token.
  const evil = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end("<title>evil</title>"));
  await new Promise(resolve => evil.listen(0, "127.0.0.1", resolve));
  for (const host of ["127.0.0.1", "localhost"]) {
    const attacker = await context.newPage();
    await attacker.goto(`http://${host}:${evil.address().port}/`);
    const got = await attacker.evaluate(async address => {
      const wait = (make, time = 4000) => Promise.race([make(), new Promise(done => setTimeout(() => done("nothing"), time))]);
      const tried = {};
      tried.fetch = await wait(() => fetch(address).then(answer => answer.text()).catch(() => "refused"));
      tried.post = await wait(() => fetch(address, { method: "POST", body: "{}" }).then(answer => answer.text()).catch(() => "refused"));
      const opaque = await wait(() => fetch(address, { mode: "no-cors" }).then(answer => answer.type).catch(() => "refused"));
      tried.opaque = opaque === "opaque" ? "refused" : opaque;
      tried.socket = await wait(() => new Promise(done => {
        const socket = new WebSocket(`${address.replace("http", "ws")}socket`);
        socket.onopen = () => done("open");
        socket.onerror = () => done("refused");
      }));
      for (const [kind, part] of [["script", "play.js"], ["link", "play.css"], ["img", ""]]) {
        tried[kind] = await wait(() => new Promise(done => {
          const it = document.createElement(kind);
          it.onload = () => done("loaded");
          it.onerror = () => done("refused");
          if (kind === "link") { it.rel = "stylesheet"; it.href = address + part; } else it.src = address + part;
          document.head.append(it);
        }));
      }
      const frame = document.createElement("iframe");
      frame.src = address;
      document.body.append(frame);
      await new Promise(done => setTimeout(done, 800));
      try { tried.frame = frame.contentDocument ? "seen" : "refused"; } catch { tried.frame = "refused"; }
      return tried;
    }, server.url);
    for (const [how, what] of Object.entries(got)) equal(what, "refused", `${how} from ${host}`);
    const child = attacker.frames().find(frame => frame !== attacker.mainFrame());
    check(!child || !(await child.$("#board").catch(() => null)), "the page is in no frame");
    // A link on another site does not open the page.
    await attacker.goto(`http://${host}:${evil.address().port}/`);
    const [answer] = await Promise.all([
      attacker.waitForEvent("response", response => response.url() === server.url),
      attacker.evaluate(address => { location.href = address; }, server.url),
    ]);
    equal(answer.status(), 403, `a link from ${host}`);
    await attacker.close();
  }
  evil.close();

  // Messages that no page sends do no harm, and the game stays.
  const results = await game.evaluate(async () => {
    const open = () => new Promise((done, fail) => {
      const socket = new WebSocket(new URL("socket", location.href).href.replace("http", "ws"));
      socket.received = [];
      socket.onmessage = event => socket.received.push(JSON.parse(event.data));
      socket.onopen = () => done(socket);
      socket.onerror = fail;
    });
    const closed = socket => new Promise(done => { socket.onclose = () => done(true); setTimeout(() => done(false), 5000); });
    const results = {};
    let socket = await open();
    for (const text of ["", "null", "{}", "[]", "\u0000", '{"do":"play"}', '{"do":"play","at":0,"place":"zz"}', '{"do":"play","at":7,"place":"aa"}',
      '{"do":"mark","place":"aa"}', '{"do":"settle"}', '{"do":"resume"}', '{"do":"from","at":99999}', '{"do":"look","step":9,"line":[]}',
      '{"do":"seats","black":{"kind":"engine","number":0},"white":{"kind":"person"}}', '{"do":"read","file":"/etc/passwd"}', '{"do":"save","file":"/tmp/x"}',
      '{"do":"new","game":{"columns":99,"rows":1e9,"handicap":0,"komi":0,"rules":"x","black":{"kind":"person"},"white":{"kind":"person"},"clock":{"kind":"none"}}}',
      "[".repeat(50_000), '{"do":"load","text":"(;SZ[19]' + ";B[]".repeat(20_000) + ')"}']) {
      socket.send(text);
      await new Promise(done => setTimeout(done, 60));
    }
    await new Promise(done => setTimeout(done, 500));
    results.refused = socket.received.filter(message => message.is === "refused").length;
    results.moves = socket.received.filter(message => message.is === "state").at(-1).count_moves;
    // There are too many messages, messages that are too long, and too many windows.
    let end = closed(socket);
    for (let number = 0; number < 5000; number++) socket.send('{"do":"estimate","at":0}');
    results.flood = await end;
    socket = await open();
    end = closed(socket);
    socket.send("x".repeat(3_000_000));
    results.long = await end;
    socket = await open();
    end = closed(socket);
    socket.send(new Uint8Array(100));
    results.binary = await end;
    const many = await Promise.allSettled(Array.from({ length: 40 }, open));
    results.windows = many.filter(it => it.status === "fulfilled").length;
    many.forEach(it => it.value?.close());
    return results;
  });
  equal(results.refused, 19, "every invalid message is refused");
  equal(results.moves, 0, "and changes nothing");
  equal([results.flood, results.long, results.binary], [true, true, true], "too many, too long, and binary messages end the connection");
  check(results.windows >= 10 && results.windows <= 16, `number of windows, limited: ${results.windows}`);
  await game.waitForTimeout(500);
  await game.reload();
  await game.waitForFunction(() => document.getElementById("counter").textContent === "Move 0");
  // No script that is inserted into the page runs, and nothing is loaded from other sites.
  const broken = await game.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "window.broken = 1";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", '<img src="http://127.0.0.1:1/x" onerror="window.broken = 2"><a href="javascript:window.broken=3" id="x">x</a>');
    document.getElementById("x").click();
    const outside = await fetch("http://127.0.0.1:1/").then(() => "reached").catch(() => "refused");
    await new Promise(done => setTimeout(done, 300));
    return [window.broken ?? null, outside];
  });
  equal(broken, [null, "refused"], "the policy of the page");
});
check(server.isAlive(), "the server is still there");
await server.kill();

// The browser's command line, which every user of the machine can read, contains an address that works only once.
if (process.platform === "linux") {
  const addressFile = join(folder, "address");
  writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\nprintf %s "$1" >'${addressFile}'\n`, { mode: 0o755 });
  const opened = await start(kosumi, ["play", "--threads", "1", "--memory", "32", "--no-model"],
    { env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } });
  let once = "";
  for (let time = 0; time < 100 && !once; time++) {
    await new Promise(done => setTimeout(done, 50));
    try { once = readFileSync(addressFile, "utf8"); } catch { /* Not yet. */ }
  }
  check(once.includes("/once/") && !once.includes(new URL(opened.url).pathname), `the address for the browser: ${once}`);
  await browse(chromium, {}, async context => {
    const page = context.pages()[0];
    await page.goto(once);
    equal(page.url(), opened.url, "it leads to the page");
    await page.waitForFunction(() => document.getElementById("counter").textContent !== "");
    equal((await page.goto(once)).status(), 404, "once");
  });
  await opened.kill();
}

// The page of a review has the same protection, also against files that are not records.
writeFileSync(join(folder, "game.sgf"), "(;SZ[9]PB[</title><script>window.broken=1</script>];B[ee]C[</script><img src=x onerror=window.broken=2>];W[cc])");
const live = await start(kosumi, ["review", join(folder, "game.sgf"), "--live", "--no-open", "--threads", "1", "--memory", "32", "--playouts", "4", "--no-model"]);
{
  const there = new URL(live.url), at = Number(there.port), path = there.pathname;
  const ask = (target, lines) => send(`GET ${target} HTTP/1.1\r\n${lines.map(line => `${line}\r\n`).join("")}\r\n`, 3000, at);
  const host = `Host: 127.0.0.1:${at}`;
  equal(status(await ask(path, [host])), "200", "the page of a review");
  check((await ask(path, [host])).includes("frame-ancestors 'none'"), "in no frame");
  for (const [target, lines, expected] of [["/", [host], "404"], [`/${token}/`, [host], "404"], [`${path}../../etc/passwd`, [host], "404"],
    [path, ["Host: evil.example"], "403"], [path, [host, "Origin: http://evil.example"], "403"], [path, [host, "Sec-Fetch-Site: cross-site"], "403"],
    [`${path}socket`, [host, ...upgrade, "Origin: http://evil.example"], "403"]]) {
    equal(status(await ask(target, lines)), expected, `review, ${target}, ${lines.at(-1)}`);
  }
  await browse(chromium, {}, async context => {
    const page = context.pages()[0];
    await page.goto(live.url);
    await page.waitForFunction(() => document.getElementById("counter").textContent === "0 / 2");
    await page.keyboard.press("ArrowRight");
    check((await page.textContent("#comment")).includes("<img src=x"), "a comment is text");
    const refused = await page.evaluate(async () => {
      const socket = new WebSocket(new URL("socket", location.href).href.replace("http", "ws")), received = [];
      socket.onmessage = event => received.push(JSON.parse(event.data).is);
      await new Promise(done => { socket.onopen = done; });
      for (const text of ["{}", '{"do":"look","step":99,"line":[]}', '{"do":"look","step":0,"line":["zz"]}', '{"do":"look","step":0,"line":["ee","ee"]}',
        '{"do":"save","file":"/tmp/x"}', '{"do":"load","text":"(;SZ[99])"}', '{"do":"load","text":"nothing"}', '{"do":"play","at":0,"place":"aa"}']) {
        socket.send(text);
        await new Promise(done => setTimeout(done, 60));
      }
      await new Promise(done => setTimeout(done, 800));
      return received.filter(what => what === "refused").length;
    });
    check(refused >= 6, `messages that no page sends are refused: ${refused}`);
    equal(await page.evaluate(() => [window.broken ?? null, document.querySelectorAll("img").length]), [null, 0], "nothing of the record runs");
  });
  check(live.isAlive(), "the server of the review is still there");
  await live.kill();
}
await finish();
