/** Captures what a body writes to stderr. Invariant: nothing reaches stderr. */

/** Runs a body and gives what it wrote to stderr. */
export function stderrOf(body: () => unknown): string {
  const { writeSync } = Deno.stderr;
  const decoder = new TextDecoder();
  let text = "";
  Deno.stderr.writeSync = (bytes: Uint8Array): number => {
    text += decoder.decode(bytes, { stream: true });
    return bytes.length;
  };
  try {
    body();
  } finally {
    Deno.stderr.writeSync = writeSync;
  }
  return text;
}
