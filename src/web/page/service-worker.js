// Keeps the files of the page, so that it works without a network. `scripts/web` inserts the version, which depends on
// the contents of all files, and their names. The files of a version are kept together: a page never mixes two
// versions.
const CACHE = "kosumi-VERSION";
const FILES = ["FILES"];
// Files of which a browser needs some. The page names them.
const CHOICES = ["kosumi.wasm", "kosumi-relaxed.wasm"];

const chosen = new URL(location).searchParams.get("files")?.split(",") ?? [];
const files = ["./", ...FILES, ...CHOICES.filter((file) => chosen.includes(file))];

self.addEventListener("install", (event) => {
  // Servers let some files be kept for long, and others are asked whether they have changed.
  const requests = files.map((file) => new Request(file, { cache: "no-cache" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(requests)));
});

self.addEventListener("activate", (event) => {
  const old = async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith("kosumi-") && name !== CACHE);
    await Promise.all(names.map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(old());
});

// The headers by which browsers isolate the page from other origins, so that the search may have threads. Hosts of static
// files seldom send them.
const ISOLATION = {
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** Returns the response with the headers. */
function isolated(response) {
  // An error, or a response whose contents are hidden, cannot be copied.
  if (response.status === 0) return response;
  const { status, statusText, body } = response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(ISOLATION)) headers.set(name, value);
  const hasBody = ![101, 204, 205, 304].includes(status);
  return new Response(hasBody ? body : null, { status, statusText, headers });
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const isOwn = request.method === "GET" && request.url.startsWith(self.registration.scope);
  if (!isOwn) return;
  const answer = async () => {
    const cache = await caches.open(CACHE);
    const kept = await cache.match(request, { ignoreSearch: true, ignoreVary: true });
    return isolated(kept ?? (await fetch(request)));
  };
  event.respondWith(answer());
});
