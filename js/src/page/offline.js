// Keeps every file of the page, so that it works without a network after the first visit. `weft page` writes the two
// constants above. Answers carry the headers that let the model use threads.

const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

self.addEventListener("install", (event) => {
  event.waitUntil(keepAll().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(forgetOthers().then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && event.request.url.startsWith(self.registration.scope))
    event.respondWith(kept(event.request));
});

async function keepAll() {
  const cache = await caches.open(VERSION);
  await cache.addAll(FILES);
}

async function forgetOthers() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith("weft-") && name !== VERSION).map((name) => caches.delete(name)));
}

async function kept(request) {
  const cache = await caches.open(VERSION);
  const response = (await cache.match(request, { ignoreSearch: true })) ?? (await fetch(request));
  if (response.type === "opaque" || response.status === 0 || response.redirected) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
