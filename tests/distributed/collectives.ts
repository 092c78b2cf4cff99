/**
 * One rank of a test: every collective over every element type, messages, groups, and errors if ranks differ. Started
 * by mpirun; prints a line at its end. Invariant: expected values are computed from the ranks' numbers alone.
 */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  distributed as dist,
  type DType,
  DTYPES,
  fromTypedArray,
  manualSeed,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../../mod.ts";

dist.initProcessGroup();
const rank = dist.getRank(), size = dist.getWorldSize(), last = size - 1;
const ranks = Array.from({ length: size }, (_, each) => each);
const list = (t: Tensor) => [...t.toTypedArray()].map(Number);
const bits = (t: Tensor) => new Int32Array(Float32Array.from(list(t)).buffer);

/** Reductions of two numbers. */
const COMBINED: Readonly<Record<Exclude<dist.ReduceOpName, "avg">, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  product: (a, b) => a * b,
  min: Math.min,
  max: Math.max,
  band: (a, b) => a & b,
  bor: (a, b) => a | b,
  bxor: (a, b) => a ^ b,
};

/** The elements of rank r: numbers and products that every type holds, even for eight ranks. */
const given = (r: number) => [r % 3, (r + 1) % 2, r < 5 ? 2 : 1, r < 3 ? 3 - r : 1];

function reductionsOf(dtype: DType): dist.ReduceOpName[] {
  if (dtype.startsWith("complex")) return ["sum", "product", "avg"];
  if (dtype.includes("float")) return ["sum", "product", "min", "max", "avg"];
  return ["sum", "product", "min", "max", "band", "bor", "bxor"];
}

for (const dtype of DTYPES) {
  const value = (x: number) => dtype === "bool" ? Number(x !== 0) : x;
  for (const op of reductionsOf(dtype)) {
    const x = tensor(given(rank), { dtype });
    dist.allReduce(x, { op });
    const combine = COMBINED[op === "avg" ? "sum" : op];
    const expected = given(0).map((_, k) => {
      const all = ranks.map((r) => value(given(r)[k] ?? 0)).reduce((a, b) => value(combine(a, b)));
      return op === "avg" ? all / size : all;
    });
    // Means in 16 bits are rounded
    const found = list(dtype.startsWith("complex") ? x.real() : x);
    assert(
      expected.every((e, k) => Math.abs(e - (found[k] ?? NaN)) <= 1e-2 * (op === "avg" ? 1 : 0)),
      `${op} of ${dtype}: ${found}, not ${expected}`,
    );
  }
  const refused = dtype.includes("float") || dtype.startsWith("complex") ? "bxor" : "avg";
  assertThrows(() => dist.allReduce(zeros([1], { dtype }), { op: refused }), Error, `found ${dtype}`);
}
// i to the power of the number of ranks
const power = tensor([{ re: 0, im: 1 }], { dtype: "complex64" });
dist.allReduce(power, { op: dist.ReduceOp.PRODUCT });
assertEquals(list(power).map((x) => x + 0), [[1, 0], [0, 1], [-1, 0], [0, -1]][size % 4]);

// Every float16 and bfloat16 comes through a sum with 0, and sums of two are rounded as additions are
for (const dtype of ["float16", "bfloat16"] as const) {
  const codes = Uint32Array.from({ length: 65536 }, (_, k) => dtype === "bfloat16" ? k << 16 : k);
  const values = dtype === "bfloat16"
    ? new Float32Array(codes.buffer)
    : new Float16Array(Uint16Array.from(codes).buffer);
  const all = fromTypedArray(Float32Array.from(values)).to(dtype);
  const x = rank === 0 ? all.clone() : zeros([65536], { dtype });
  dist.allReduce(x);
  assertEquals(list(x.eq(all).logicalOr(all.isnan().logicalAnd(x.isnan())).all()), [1], dtype);
}
const pair = dist.newGroup([0, 1]);
if (rank < 2) {
  for (const dtype of ["float16", "bfloat16"] as const) {
    manualSeed(3);
    const [a, b] = [randn([4000]).mul(3e-5), randn([4000])].map((t) => t.exp2().to(dtype));
    assert(a && b);
    for (const op of ["sum", "product"] as const) {
      const x = (rank === 0 ? a : b).clone();
      dist.allReduce(x, { op, group: pair });
      assertEquals(list(x), list(op === "sum" ? a.add(b) : a.mul(b)));
    }
  }
  assertEquals([dist.getRank(pair), dist.getWorldSize(pair)], [rank, 2]);
} else {
  assertEquals([dist.getRank(pair), dist.getWorldSize(pair)], [-1, -1]);
  assertThrows(() => dist.barrier({ group: pair }), Error, "ranks 0, 1");
}

// NaN wins, whichever rank has it
for (const dtype of ["float32", "float64", "float16", "bfloat16"] as const) {
  for (const op of ["min", "max"] as const) {
    const x = tensor([rank === 0 ? NaN : rank, rank === last ? NaN : rank], { dtype });
    dist.allReduce(x, { op });
    assertEquals(list(x), [NaN, NaN]);
    const zero = tensor([rank === 1 ? -0 : 0], { dtype });
    dist.allReduce(zero, { op });
    assertEquals(Object.is(list(zero)[0], -0), op === "min", dtype);
  }
}

// The same bits on every rank, where sums depend on their order
manualSeed(rank);
const sums = randn([1001]).exp();
dist.allReduce(sums);
const everywhere = zeros([size, 1001]);
dist.allGatherIntoTensor(everywhere, sums);
for (const r of ranks) assertEquals(bits(everywhere.select(0, r)), bits(sums));

// Parts go where they belong, in every type
for (const dtype of DTYPES) {
  const part = (r: number, s = 0) => tensor([r % 2, s % 2], { dtype });
  const lists = () => ranks.map(() => zeros([2], { dtype }));
  const same = (found: readonly Tensor[], expected: readonly Tensor[]) =>
    assertEquals(found.map((t) => t.tolist()), expected.map((t) => t.tolist()), dtype);
  const x = part(rank, 1);
  dist.broadcast(x, last);
  same([x], [part(last, 1)]);
  const all = lists();
  dist.allGather(all, part(rank, 1));
  same(all, ranks.map((r) => part(r, 1)));
  const got = lists();
  dist.allToAll(got, ranks.map((r) => part(rank, r)));
  same(got, ranks.map((r) => part(r, rank)));
  dist.scatter(x, rank === 1 ? ranks.map((r) => part(r, 1)) : null, { src: 1 });
  same([x], [part(rank, 1)]);
  const here = rank === last ? lists() : null;
  dist.gather(x, here, { dst: last });
  if (here) same(here, ranks.map((r) => part(r, 1)));
}
const total = ranks.reduce((a, b) => a + b);
const sum = tensor([rank, 1]);
dist.reduce(sum, 1);
assertEquals(list(sum), rank === 1 ? [total, size] : [rank, 1]);
const shared = zeros([2]);
dist.reduceScatter(shared, ranks.map((r) => tensor([r + rank, 1.5])), { op: "avg" });
assertEquals(list(shared), [rank + total / size, 1.5]);
dist.reduceScatterTensor(shared, tensor(ranks.map((r) => [r, rank])).float());
assertEquals(list(shared), [rank * size, total]);
const turned = zeros([size], { dtype: "int64" });
dist.allToAllSingle(turned, tensor(ranks.map((r) => 10 * rank + r)));
assertEquals(list(turned), ranks.map((r) => 10 * r + rank));
dist.barrier();

// Views: a dense one is written where it lies, another through a copy; both count as in-place writes
const whole = zeros([3, 4]), before = whole.version;
dist.allReduce(whole.select(0, 1).fill_(rank));
dist.allReduce(whole.select(1, 2).fill_(1));
assertEquals(whole.tolist(), [[0, 0, size, 0], [total, total, size, total], [0, 0, size, 0]]);
assert(whole.version >= before + 4);
dist.allReduce(zeros([0, 3]));
const leaf = tensor([2, 3], { dtype: "float32" }).requiresGrad_(), y = leaf.mul(1), z = y.mul(y).sum();
dist.allReduce(y);
assertThrows(() => z.backward(), Error, "inplace operation");

// An input within the output, too
const shares = zeros([size]);
dist.allGatherIntoTensor(shares, shares.narrow(0, last - rank, 1).fill_(rank + 1));
assertEquals(list(shares), ranks.map((r) => r + 1));

// Calls that nobody waits for, more than are kept
const forgotten = ranks.map(() => tensor([1]));
for (let k = 0; k < 300; k++) dist.allReduce(forgotten[k % size] ?? shares, { asyncOp: true, op: "max" });
dist.barrier();
assertEquals(forgotten.map(list), ranks.map(() => [1]));

// Calls in the background end in any order of waiting; other code runs meanwhile
const many = ranks.map((r) => tensor([r, rank])),
  works = many.map((t) => dist.allReduce(t, { asyncOp: true }));
for (const k of [...ranks].reverse()) works[k]?.wait();
assertEquals(many.map(list), ranks.map((r) => [r * size, total]));
// Rank 0 comes once the event loops of those that wait for it have turned
if (rank === 0) { for (const from of ranks.slice(2)) dist.recv(tensor([0]), from); }
const late = tensor([1]), work = dist.allReduce(late, { asyncOp: true });
if (rank === 1) work.wait();
else if (rank > 1) {
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  while (ticks < 4) await new Promise((done) => setTimeout(done, 5));
  clearInterval(timer);
  assert(!work.isCompleted(), "Expected to wait for rank 0");
  dist.send(tensor([1]), 0);
}
await work.getFuture();
assert(work.isCompleted());
assertEquals(list(late), [size]);

// Messages: around the ring, from anybody, by tags, in order
const next = (rank + 1) % size, former = (rank + last) % size, message = zeros([2]);
const passing = dist.isend(tensor([rank, 0.5]), next);
assertEquals(dist.recv(message, former), former);
passing.wait();
assertEquals(list(message), [former, 0.5]);
if (rank === 0) {
  const senders = ranks.slice(1).map(() => [dist.recv(message), message.tolist()]);
  assertEquals(senders.sort(), ranks.slice(1).map((r) => [r, [r, 7]]));
} else dist.send(tensor([rank, 7]).float(), 0);
if (rank === 0) {
  for (const [k, tag] of [[1, 5], [2, 6], [3, 5]] as const) dist.isend(tensor([k]), 1, { tag });
}
if (rank === 1) {
  const [a, b, c] = [6, 5, 5].map((tag) => {
    const into = tensor([0]);
    dist.recv(into, 0, { tag });
    return into.item();
  });
  assertEquals([a, b, c], [2, 1, 3]);
}

// If ranks differ all of them throw, nothing is written, and the group continues
const differs = (call: () => void, ...texts: readonly string[]) => {
  const error = assertThrows(call, dist.DistributedError);
  for (const text of texts) assert(error.message.includes(text), error.message);
};
const kept = tensor([1, 2, 3]), other = tensor([1, 2]);
differs(
  () => dist.allReduce(rank === 0 ? kept : other),
  'rank 0: allReduce("sum") of int64 [3]',
  "int64 [2]",
);
differs(() => dist.allReduce(rank === 0 ? kept : kept.to("int32")), "of int32 [3]");
differs(() => dist.allReduce(kept, { op: rank === 0 ? "max" : "sum" }), '("max")', '("sum")');
differs(() => rank === 0 ? dist.barrier() : dist.broadcast(kept, 0), "rank 0: barrier()", "broadcast(root 0");
differs(() => void dist.newGroup([rank === 0 ? 0 : 1]), "newGroup([0])", "newGroup([1])");
const wrong = dist.allReduce(rank === 0 ? kept : other, { asyncOp: true }), right = tensor([1]);
dist.allReduce(right, { asyncOp: true }).wait();
await assertRejects(() => wrong.getFuture(), dist.DistributedError, 'rank 0: allReduce("sum") of int64 [3]');
const mixed = dist.allReduce(right, { op: "max", asyncOp: rank === 0 }); // which ranks wait is their own business
if (rank === 0) mixed.wait();
if (rank === 0) differs(() => dist.send(kept, 1), "[3] on rank 0 and a message of int64 [2] on rank 1");
if (rank === 1) differs(() => void dist.recv(other, 0), "[2] on rank 1 and a message of int64 [3] on rank 0");
assertEquals([list(kept), list(other), list(right)], [[1, 2, 3], [1, 2], [size]]);

dist.destroyProcessGroup();
assertEquals(dist.isInitialized(), false);
dist.initProcessGroup();
dist.allReduce(right);
assertEquals(list(right), [size * size]);
console.log(`rank ${rank} of ${size} is done`);
