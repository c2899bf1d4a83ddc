// A pair in the address: packed behind the #, which browsers never send to a server.

const PREFIX = "#pair=";
const LONGEST = 200_000;

export async function addressOf(state) {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(state)));
  const letters = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
  return `${location.origin}${location.pathname}${PREFIX}${letters.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

export async function stateOfAddress(hash) {
  if (!hash.startsWith(PREFIX) || hash.length > LONGEST) return null;
  try {
    const letters = atob(hash.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), packed)));
  } catch {
    return null;
  }
}

async function through(transform, bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
