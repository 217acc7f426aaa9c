// The source in the fragment of the address.

async function transformed(bytes, stream) {
  const response = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await response.arrayBuffer());
}
const toBase64 = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""))
                                .replace(/\+/g, "-")
                                .replace(/\//g, "_")
                                .replace(/=+$/, "");
const fromBase64 = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

/** "#z." with compressed, or "#p." with plain UTF-8 text of {text, assembly, params}. */
export async function fragmentOf(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  if (typeof CompressionStream === "undefined") return "#p." + toBase64(bytes);
  return "#z." + toBase64(await transformed(bytes, new CompressionStream("deflate-raw")));
}
export async function stateOf(fragment) {
  const match = /^#([zp])\.([\w-]+)$/.exec(fragment);
  if (!match) return undefined;
  try {
    let bytes = fromBase64(match[2]);
    if (match[1] === "z") bytes = await transformed(bytes, new DecompressionStream("deflate-raw"));
    const state = JSON.parse(new TextDecoder().decode(bytes));
    return typeof state.text === "string" ? state : undefined;
  } catch {
    return undefined;
  }
}
