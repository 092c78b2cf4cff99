/** Random program text composed of random parts, so that a program shrinks by its parts. */
import fc from "fast-check";

/** Random text. */
export type Text = fc.Arbitrary<string>;

/** Text with random parts. */
export function code(strings: TemplateStringsArray, ...parts: readonly Text[]): Text {
  return fc.tuple(...parts).map((texts) => strings.map((text, i) => text + (texts[i] ?? "")).join(""));
}

/** One of several texts; shrinks to the first. */
export function word(...choices: readonly string[]): Text {
  return fc.constantFrom(...choices);
}

/** A sequence of texts. */
export function several(
  text: Text,
  { least, most, between = " " }: {
    readonly least: number;
    readonly most: number;
    readonly between?: string;
  },
): Text {
  return fc.array(text, { minLength: least, maxLength: most, size: "max" }).map((all) => all.join(between));
}

/** One of several texts, by weight; shrinks to the first. */
export function choose(...choices: readonly (readonly [number, Text])[]): Text {
  return fc.oneof(
    { withCrossShrink: true, maxDepth: 5, depthIdentifier: "code" },
    ...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })),
  );
}

/** A random jump out of an enclosing loop or block; it is a placeholder until there is one. */
export const JUMP: Text = word("@break;", "@continue;");

/** Statements inside a loop or block with a label: some of the open jumps in them refer to it. */
export function labelled(kind: "loop" | "block", head: Text, body: Text): Text {
  return fc.tuple(head, body, fc.nat(255)).map(([before, inside, mask]) => {
    // Labels are numbered from the inside, so that none is nested in another with its name.
    const depth = 1 +
      Math.max(-1, ...[...inside.matchAll(/\bL(\d+): /g)].map(([, digits]) => Number(digits)));
    let at = 0;
    const text = inside.replaceAll(/@(break|continue);/g, (mark, jump) => {
      const mine = (mask >> (at++ % 8)) % 2 === 0 && (kind === "loop" || jump === "break");
      return mine ? `${jump} L${depth};` : mark;
    });
    return `L${depth}: ${before} { ${text} }`;
  });
}

/** Text inside a function of its own: jumps, yields and awaits do not leave it. */
export function closed(text: Text): Text {
  return text.map((inside) =>
    withoutJumps(inside).replaceAll(/\byield\b\*?/g, "void ").replaceAll(/\bawait\b/g, "")
  );
}

/** Text without its open jumps. */
export function withoutJumps(text: string): string {
  return text.replaceAll(/@(break|continue);/g, ";");
}
