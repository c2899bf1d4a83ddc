// Talking to the server this page came from.

export async function getModels() {
  return answered(await fetch("api/models"));
}

// Two texts of which nobody has said which sentences belong together.
export async function alignTexts(source, target) {
  const { parts } = await answered(await sent("POST", "api/texts", { source, target }));
  return parts;
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

// Files are read and written by the server, with the readers that the command line has.
export async function readFiles(files, pairs = null) {
  const packed = await packedFiles(files);
  const known = pairs?.map(({ source, target }) => ({ source, target })) ?? null;
  return answered(await sent("POST", "api/files/read", { files: packed, pairs: known }));
}

export async function packedFiles(files) {
  return Promise.all([...files].map(async (file) => ({ name: file.name, content: await base64(file) })));
}

export async function writeFile(format, pairs) {
  const body = pairs.map(({ source, target, links }) => ({ source, target, links }));
  const response = await sent("POST", "api/files/write", { format, pairs: body });
  return response.ok ? response.text() : answered(response);
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
}

// Projects on the server's disk.
export async function getProjects() {
  return answered(await fetch("api/projects"));
}

// `splitting` says how texts become words; without it they are cut at blanks.
export async function makeProject(name, files, splitting = {}) {
  return answered(await sent("POST", "api/projects", { name, files: await packedFiles(files), ...splitting }));
}

const under = (name, rest = "", query = {}) => {
  const asked = new URLSearchParams(query).toString();
  return `api/projects/${encodeURIComponent(name)}${rest}${asked ? `?${asked}` : ""}`;
};

export async function getProject(name, annotator) {
  return answered(await fetch(under(name, "", { annotator })));
}

export async function getChanges(name, annotator, since) {
  return answered(await fetch(under(name, "/changes", { annotator, since })));
}

export async function getAgreement(name, first, second) {
  return answered(await fetch(under(name, "/agreement", { first, second })));
}

export async function getGold(name, format) {
  const response = await fetch(under(name, "/export", { format }));
  return response.ok ? response.text() : answered(response);
}

// `keepalive` lets the request outlive the page. Returns { kept } or { conflict }.
export async function putPair(name, number, saying) {
  const response = await sent("PUT", under(name, `/pairs/${number}`), saying, true);
  if (response.status === 409) return { conflict: (await response.json()).current };
  return { kept: await answered(response) };
}

function sent(method, address, body, keepalive = false) {
  const text = JSON.stringify(body);
  return fetch(address, {
    method,
    headers: { "Content-Type": "application/json" },
    body: text,
    keepalive: keepalive && text.length < 60_000, // browsers allow no more
  });
}

async function answered(response) {
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => null);
  const error = new Error(problem?.detail ?? `the server answered ${response.status}.`);
  error.status = response.status;
  throw error;
}
