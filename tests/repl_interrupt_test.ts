/** Ctrl-C in the REPL, typed into a terminal that `script` (Debian's bsdutils) provides. */
import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { withFolder } from "./support/process.ts";

const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));

/** A REPL in a terminal: types, and waits for what it answers. */
interface Typed {
  type(text: string): Promise<void>;
  until(wanted: string): Promise<void>;
  /** The exit code. */
  end(): Promise<number>;
}

/** Milliseconds that only a REPL which hangs needs for an answer. */
const HANGS = 120_000;

async function withRepl(body: (repl: Typed) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const child = new Deno.Command("script", {
      // Signals reach the REPL alone: some shells would stay between, and end by Ctrl-C themselves
      args: ["-qfec", `exec ${Deno.execPath()} run -A --no-check ${CLI} repl`, "/dev/null"],
      env: { DYN_CACHE_DIR: `${folder}/cache`, TERM: "dumb", NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const writer = child.stdin.getWriter(),
      reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let told = "";
    try {
      await body({
        type: (text) => writer.write(new TextEncoder().encode(text)),
        async until(wanted) {
          let isHung = false;
          const limit = setTimeout(() => {
            isHung = true;
            child.kill("SIGKILL");
          }, HANGS);
          try {
            while (!told.includes(wanted)) {
              const { value, done } = await reader.read();
              if (done) throw new Error(`Expected ${wanted} ${isHung ? "in time " : ""}but found ${told}`);
              told += value;
            }
          } finally {
            clearTimeout(limit);
          }
          told = told.slice(told.indexOf(wanted) + wanted.length);
        },
        end: async () => (await child.status).code,
      });
    } finally {
      await writer.abort().catch(() => {});
      await reader.cancel();
      try {
        child.kill("SIGKILL");
      } catch {
        // Already ended
      }
      await child.status;
    }
  });
}

const INTERRUPT = "\x03";

Deno.test({
  name: "Ctrl-C ends what runs and not the REPL; a second one ends what starts no kernel",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withRepl(async ({ type, until, end }) => {
      await until("> ");
      await type("let n = 0\r");
      await until("> ");
      const loops = [
        "while (true) n += tensor([1, 2]).add(n).numel();",
        "await new Promise(() => {});",
        "for (;;) { await new Promise((r) => setTimeout(r, 1)); n += ones([2]).add(1).numel(); }",
      ];
      for (const loop of loops) {
        // In two parts, so that what is typed is not what is waited for
        await type(`console.log("be" + "gun"); ${loop}\r`);
        await until("begun");
        await type(INTERRUPT);
        await until("Interrupted: The run was ended by Ctrl-C");
        await until("> ");
      }
      await type("let m = n; await new Promise((r) => setTimeout(r, 50)); 'rest ' + (n - m)\r");
      await until("rest 0");
      await until("> ");
      await type('console.log("be" + "gun"); for (;;);\r');
      await until("begun");
      let code: number | undefined;
      const ended = end().then((found) => code = found);
      // Signals that come at the same time are one
      while (code === undefined) {
        await type(INTERRUPT).catch(() => {});
        await Promise.race([ended, new Promise((done) => setTimeout(done, 100))]);
      }
      // 128 and the number of SIGTERM
      assertEquals(code, 143);
    }),
});
