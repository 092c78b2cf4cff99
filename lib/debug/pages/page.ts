/**
 * Pages that need nothing besides themselves. Input: a title, scripts and data; output: HTML. Invariant: whatever the
 * data hold, they are shown, never run: scripts put them into the page as text alone.
 */
import base from "./base.js" with { type: "text" };
import style from "./base.css" with { type: "text" };
import { escapeHtml } from "./escape.ts";

/** What a page is made of. */
export interface PageParts {
  readonly title: string;
  /** What fills the page: the text of a module that imports base.js alone. */
  readonly script: string;
  /** Handed to the script; JSON can hold it. */
  readonly data: unknown;
}

/** The text of a module as part of a script. */
const inScript = (module: string): string =>
  module.replace(/^import [^;]*;$/gm, "").replace(/^export /gm, "");

/** A whole page. */
export function htmlPage({ title, script, data }: PageParts): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style></head><body>
<noscript>This page shows its contents by a script.</noscript>
<script id="data" type="application/json">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>
<script>"use strict";
${inScript(base)}
${inScript(script)}
</script></body></html>
`;
}
