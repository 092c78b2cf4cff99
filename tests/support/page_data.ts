/** The data of pages that dyn writes, which are compressed. */
import { gunzipSync } from "node:zlib";

/** Returns the data that a page shows, as JSON. */
export function pageData(html: string): string {
  const [, packed = ""] = /id="data"[^>]*>([^<]*)/.exec(html) ?? [];
  return gunzipSync(Uint8Array.fromBase64(packed)).toString();
}
