// Talking to the server this page came from.

export async function getModels() {
  return answered(await fetch("api/models"));
}

// Align pairs; a newer call with the same `line` takes the place of an older one. Waits and tries again when the server is full.
const running = new Map();

export async function align(request, line = "one") {
  running.get(line)?.abort();
  const stop = new AbortController();
  running.set(line, stop);
  for (let attempt = 0; ; attempt++) {
    const response = await fetch("api/align", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(request),
      signal: stop.signal,
    });
    if (response.status !== 503 || attempt === 5) return answered(response);
    await new Promise((resolve) => setTimeout(resolve, 400 * (attempt + 1)));
    stop.signal.throwIfAborted();
  }
}

async function answered(response) {
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => null);
  throw new Error(problem?.detail ?? `the server answered ${response.status}.`);
}
