/**
 * Elements of tensors that the compiled function fills with constants: they are read while tracing, as long as nothing
 * writes to them, and have the values and types that they have uncompiled.
 */
import { assertEquals } from "@std/assert";
import {
  arange,
  compile,
  compiler,
  eye,
  full,
  ones,
  scalarTensor,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";

const LIST = [tensor([1, 2]), tensor([3, 4]), tensor([5, 6])];

type Program = (x: Tensor) => unknown;

/** Programs, and how often they end the graph. */
const PROGRAMS: Readonly<Record<string, readonly [Program, number]>> = {
  "an index": [(x) => x.add(LIST[tensor(2).item()] ?? x), 0],
  "an index of a list": [(x) => tensor([2, 0]).tolist<number[]>().map((k) => x.add(LIST[k] ?? x)), 0],
  "a count": [(x) => {
    let y = x;
    for (let i = 0; i < tensor([1, 3]).at(1).item(); i++) y = y.mul(2);
    return y;
  }, 0],
  "a dimension": [(x) => x.unsqueeze(0).sum(zeros([], { dtype: "int64" }).item()), 0],
  "a condition": [(x) => ones([1]).item() > 0 ? x.sin() : x.cos(), 0],
  "a rounded fraction": [(x) => [x.add(1), `${tensor(0.1).item()}`], 0],
  "a boolean, a bigint": [(x) => [x.add(1), `${tensor(true).item()} ${tensor(2n ** 62n).item()}`], 0],
  "a fill": [(x) => [x.add(1), `${full([2], 7).at(1).item()} ${arange(5).at(3).item()}`], 0],
  "a matrix": [(x) => [x.add(1), JSON.stringify(eye(2).t().tolist()), `${scalarTensor(4).item()}`], 0],
  "a conversion": [(x) => [x.add(1), `${Number(tensor(3))} ${+tensor(true)}`], 0],
  "read, then written": [(x) => {
    const k = tensor(1), read = `${k.item()}`;
    k.add_(1);
    return [x.add(k), read];
  }, 0],
  "written, then read": [(x) => {
    const k = tensor(1);
    k.add_(1);
    return [x.add(1), `${k.item()}`];
  }, 0],
  "written through a view, then an index": [(x) => {
    const k = tensor([0, 0]);
    k.at(1).add_(2);
    return x.add(LIST[k.at(1).item()] ?? x);
  }, 1],
  "computed from an input": [(x) => x.add(LIST[tensor([0, 1]).add(x.numel()).sub(2).at(1).item()] ?? x), 1],
  "a long tensor": [(x) => x.add(LIST[zeros([1000]).at(5).item()] ?? x), 1],
};

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return value && typeof value === "object" && "tolist" in value && typeof value.tolist === "function"
    ? value.tolist()
    : value;
}

for (const [name, [program, breaks]] of Object.entries(PROGRAMS)) {
  Deno.test(`elements that a trace knows: ${name}`, () => {
    const x = tensor([0.5, -2]), run = compile(program, { backend: "eager" });
    for (let i = 0; i < 2; i++) assertEquals(plain(run(x)), plain(program(x)));
    assertEquals(compiler.status(run).graphBreaks, breaks);
  });
}
