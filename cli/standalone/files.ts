/** Files and programs for packing: copies, names and texts. */
import { dirname, join } from "node:path";

/** Runs a program and returns its standard output; throws with its standard error if it fails. */
export async function output(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd }).output();
  if (!success) throw new Error(`${program} ${args[0]} failed:\n${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Returns whether a file of this name exists. */
export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Copies a file, creating missing folders. */
export function copy(from: string, to: string): void {
  Deno.mkdirSync(dirname(to), { recursive: true });
  Deno.copyFileSync(from, to);
}

/** All files below a folder. */
export function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    return isDirectory ? filesBelow(path) : [path];
  });
}

/** The part of `deno info --json` that is used here. */
export interface ModuleGraph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly local?: string;
    readonly error?: string;
    readonly dependencies?: readonly {
      readonly specifier: string;
      readonly code?: {
        readonly specifier?: string;
        readonly error?: string;
        /** Its place in the module; lines and characters count from 0. */
        readonly span: { readonly start: { readonly line: number; readonly character: number } };
      };
    }[];
  }[];
}
