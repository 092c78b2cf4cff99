/**
 * The script of a pool's thread, which depends only on the shared memory, so that it runs wherever the modules of this
 * program are. Invariant: the words below are read before a chunk is taken and stay valid until it is counted as done.
 */

/** Words at the start of the memory. */
export const WORD = {
  /** Number of the job (upper half) and of its remaining chunks (lower half). */
  ticket: 0,
  /** Chunks of the job that are done. */
  done: 16,
  failed: 17,
  /** The module of the job: address and length of its code. */
  address: 32,
  length: 33,
  /** Index of the job's function among the module's exports. */
  function: 34,
  description: 35,
  units: 36,
  /** Units of a chunk. */
  per: 37,
  scratch: 38,
  scratchBytes: 39,
  /** The module whose functions others import: address and length. */
  library: 40,
  libraryLength: 41,
} as const;

/** The script. A thread that finds no work polls for 0.1 ms, then sleeps. */
export const workerSource = `
const { memory, place } = require("node:worker_threads").workerData;
const words = new Int32Array(memory.buffer, 0, 64);
const modules = new Map();

function load(address, length) {
  const known = modules.get(address);
  if (known !== undefined) return known;
  let functions = {};
  try {
    const code = new WebAssembly.Module(new Uint8Array(memory.buffer, address, length).slice());
    const imports = WebAssembly.Module.imports(code).length > 1;
    const library = imports ? load(words[${WORD.library}], words[${WORD.libraryLength}]) : {};
    functions = new WebAssembly.Instance(code, { host: { memory, ...library } }).exports;
  } catch {}
  modules.set(address, functions);
  return functions;
}

function work(ticket) {
  const address = words[${WORD.address}], length = words[${WORD.length}], at = words[${WORD.function}];
  const description = words[${WORD.description}], units = words[${WORD.units}] >>> 0, per = words[${WORD.per}] >>> 0;
  const scratch = words[${WORD.scratch}] + place * words[${WORD.scratchBytes}];
  // The words are the ticket's only if it is still the same job
  if (Atomics.load(words, ${WORD.ticket}) >>> 16 !== ticket >>> 16) return;
  const run = Object.values(load(address, length))[at];
  if (run === undefined) return rest(ticket);
  for (;;) {
    const now = Atomics.load(words, ${WORD.ticket}), left = now & 0xffff;
    if (now >>> 16 !== ticket >>> 16 || left === 0) return;
    if (Atomics.compareExchange(words, ${WORD.ticket}, now, now - 1) !== now) continue;
    try {
      run(description, (left - 1) * per, Math.min(units, left * per), scratch);
    } catch {
      Atomics.store(words, ${WORD.failed}, 1);
    }
    Atomics.add(words, ${WORD.done}, 1);
    Atomics.notify(words, ${WORD.done});
  }
}

/** Sleeps until the ticket changes. */
function rest(ticket) {
  Atomics.wait(words, ${WORD.ticket}, ticket);
}

for (;;) {
  const ticket = Atomics.load(words, ${WORD.ticket});
  if ((ticket & 0xffff) !== 0) {
    work(ticket);
    continue;
  }
  const until = performance.now() + 0.1;
  let changed = false;
  while (!changed && performance.now() < until) {
    for (let i = 0; i < 100 && !changed; i++) changed = Atomics.load(words, ${WORD.ticket}) !== ticket;
  }
  if (!changed) rest(ticket);
}
`;
