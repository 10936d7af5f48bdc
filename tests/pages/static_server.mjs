// Serves a folder of static files under a path, as `python3 -m http.server` does, and records the requests.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".png": "image/png", ".svg": "image/svg+xml",
  ".wasm": "application/wasm", ".webmanifest": "application/manifest+json",
};

// Headers that make browsers isolate a page from other origins.
const ISOLATION = { "Cross-Origin-Embedder-Policy": "require-corp", "Cross-Origin-Opener-Policy": "same-origin" };

// `change(path, file)` may return a different content for a file. The second half of a file is sent when the promise of
// `half(path)` resolves. With `isIsolated`, pages are isolated from other origins.
export async function serve(folder, { path = "/", change = (_, file) => file, half = () => null, isIsolated = false } = {}) {
  const requests = [], missing = [];
  const server = createServer(async (request, response) => {
    const asked = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    requests.push(asked);
    try {
      if (!asked.startsWith(path)) throw new Error("elsewhere");
      const name = asked.slice(path.length) || "index.html";
      const file = change(name, await readFile(join(folder, name)));
      response.setHeader("Content-Type", TYPES[extname(name)] ?? "application/octet-stream");
      if (isIsolated) for (const [header, value] of Object.entries(ISOLATION)) response.setHeader(header, value);
      const isHeld = half(name);
      if (isHeld) {
        response.setHeader("Content-Length", file.length);
        response.write(file.subarray(0, file.length >> 1));
        await isHeld;
        response.end(file.subarray(file.length >> 1));
      } else {
        response.end(file);
      }
    } catch {
      missing.push(asked);
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}${path}`,
    requests,
    missing,
    // Closes the server and all connections.
    close: () => new Promise(resolve => { server.close(resolve); server.closeAllConnections(); }),
  };
}
