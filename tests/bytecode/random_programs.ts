/**
 * Random functions of nested control flow, for the property that printed code behaves as the original.
 *
 * A seed determines the text of a function `f(a)` that always terminates and logs its path.
 */

/** Text of the function of that seed. */
export function randomProgram(seed: number, kind: "function" | "generator" | "async"): string {
  const program = new Generator(seed, kind);
  const head = kind === "generator" ? "function* f" : kind === "async" ? "async function f" : "function f";
  return `${head}(a) { let n = 0, b = 1; const held = []; ${
    program.list(3)
  } return [a, b, n, held.map((g) => g())]; }`;
}

class Generator {
  private state: number;
  private labels: { readonly name: string; readonly loop: boolean }[] = [];
  private count = 0;

  constructor(seed: number, private readonly kind: "function" | "generator" | "async") {
    this.state = seed * 2654435761 >>> 0 || 1;
  }

  /** An integer below `n` (xorshift). */
  private below(n: number): number {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return (this.state >>> 0) % n;
  }

  private condition(): string {
    const picks = [
      "a % 2 === 0",
      "b > 2",
      "n % 3 === 1",
      "(a + b) % 4 < 2",
      "t(n) % 2",
      "b % 2 && a > 1",
      "a > 3 || n % 5 === 0",
    ];
    return picks[this.below(picks.length)] ?? "a";
  }

  list(depth: number): string {
    return Array.from({ length: 1 + this.below(depth > 2 ? 4 : 2) }, () => this.statement(depth)).join(" ");
  }

  private inside(label: { readonly name: string; readonly loop: boolean }, body: () => string): string {
    this.labels.push(label);
    const text = body();
    this.labels.pop();
    return text;
  }

  /** A finally block that jumped out could undo the return that ends a loop. */
  private unlabelled(body: () => string): string {
    const saved = this.labels;
    this.labels = [];
    const text = body();
    this.labels = saved;
    return text;
  }

  /** Every loop counts, so that all of them end. */
  private guard(): string {
    return "if (++n > 40) return 'many';";
  }

  private statement(depth: number): string {
    const name = `L${this.count++}`;
    if (depth === 0) return this.leaf();
    switch (this.below(13)) {
      case 0:
        return `if (${this.condition()}) { ${this.list(depth - 1)} }`;
      case 1:
        return `if (${this.condition()}) { ${this.list(depth - 1)} } else { ${this.list(depth - 1)} }`;
      case 2:
        return this.inside(
          { name, loop: true },
          () => `${name}: while (${this.condition()}) { ${this.guard()} ${this.list(depth - 1)} a++; }`,
        );
      case 3:
        return this.inside(
          { name, loop: true },
          () =>
            `${name}: do { ${this.guard()} ${this.list(depth - 1)} } while (${this.condition()} && ++b < 6);`,
        );
      case 4:
        return this.inside(
          { name, loop: true },
          () =>
            `${name}: for (let i = 0; i < 3; i++) { ${this.guard()} held.push(() => i); ${
              this.list(depth - 1)
            } }`,
        );
      case 5:
        return this.inside(
          { name, loop: true },
          () => `${name}: for (const x of it([1, 2, 3])) { ${this.guard()} b += x; ${this.list(depth - 1)} }`,
        );
      case 6:
        return `try { ${this.list(depth - 1)} } catch (e) { log.push(e.message); ${this.list(depth - 1)} }`;
      case 7:
        return `try { ${this.list(depth - 1)} } finally { ${
          this.unlabelled(() => this.list(Math.min(1, depth - 1)))
        } }`;
      case 8:
        return `try { ${this.list(depth - 1)} } catch { ${
          this.list(depth - 1)
        } } finally { log.push('f${name}'); }`;
      case 9:
        return this.inside({ name, loop: false }, () => `${name}: { ${this.list(depth - 1)} }`);
      case 10:
        return this.inside(
          { name, loop: false },
          () =>
            `${name}: switch (a % 4) { case 0: ${this.list(depth - 1)} case b: ${
              this.list(depth - 1)
            } break; default: ${this.list(depth - 1)} }`,
        );
      default:
        return this.leaf();
    }
  }

  private leaf(): string {
    const label = this.labels[this.below(Math.max(1, this.labels.length))];
    switch (this.below(12)) {
      case 0:
        return label ? `if (${this.condition()}) break ${label.name};` : "a++;";
      case 1:
        return label?.loop ? `if (${this.condition()}) continue ${label.name};` : "b++;";
      case 2:
        return `if (${this.condition()}) throw new Error('user ${this.count}');`;
      case 3:
        return `if (${this.condition()}) return t('r${this.count}');`;
      case 4:
        return "{ const c = a; held.push(() => c + a); }";
      case 5:
        return "const [p, q = t(b)] = it([a]); b = p + (q % 7);".replaceAll(/\b([pq])\b/g, `$1${this.count}`);
      case 6:
        if (this.kind === "generator") return "b += (yield a) ?? 1;";
        if (this.kind === "async") return "b += await later(1);";
        return `log.push(${this.count});`;
      case 7:
        return this.kind === "generator" ? "yield* it([b]);" : "b = (a ?? 1) + (b && t(2));";
      default:
        return `log.push(${this.count}, a, b++); a += ${this.below(3)};`;
    }
  }
}
