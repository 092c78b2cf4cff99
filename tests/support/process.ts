/**
 * Runs programs as separate processes for tests, and returns their output and exit code.
 */

/** The outcome of a process. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Surroundings of a process; `clean` starts it with nothing but the given variables. */
export interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly clean?: boolean;
  readonly stdin?: string;
}

/** Runs a program to its end. */
export async function runProgram(
  program: string,
  args: readonly string[],
  around: Surroundings = {},
): Promise<Outcome> {
  const child = new Deno.Command(program, {
    args: [...args],
    ...(around.cwd === undefined ? {} : { cwd: around.cwd }),
    env: { NO_COLOR: "1", ...around.env },
    clearEnv: around.clean ?? false,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  // A program that ends without reading its input closes the pipe first.
  await writer.write(new TextEncoder().encode(around.stdin ?? "")).catch(() => {});
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Runs `body` with a temporary folder that is removed afterwards. */
export async function withFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "dyn-test-" }));
  try {
    return await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
