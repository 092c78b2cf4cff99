/**
 * Vector loops as C++. Input: a loop and its form; output: lines. Invariants: a straight run is one plain loop that the
 * compiler vectorises; otherwise blocks of BLOCK lanes are worked through, whose values live in small arrays where another
 * part of the block needs them.
 */
import type { ValueType } from "../../../lib/base/dtype.ts";
import type { LaneForm } from "../../../lib/codegen/lane_forms.ts";
import type { Item } from "../../../lib/codegen/lane_runs.ts";
import {
  isPosition,
  type Loop,
  type Reduction,
  type Statement,
  type ValueId,
} from "../../../lib/loops/ir.ts";
import type { StatementPrinter } from "./names.ts";
import { combine, foldName, foldText, LANES, neutral } from "./reductions.ts";
import { MEMORY_TYPE, VALUE_TYPE } from "./types.ts";

/** Lanes of a block; a multiple of LANES. */
const BLOCK = 256;

type Form<K extends LaneForm["kind"]> = Extract<LaneForm, { readonly kind: K }>;

/** Prints a loop that runs in lanes. */
export function printLanes(
  nest: StatementPrinter,
  loop: Loop,
  form: Exclude<LaneForm, { kind: "scalar" }>,
): void {
  const printer = new LanePrinter(nest, loop);
  switch (form.kind) {
    case "run":
      return printer.run(form);
    case "groups":
      return printer.groups(form);
    case "fold":
      return printer.fold(form);
    case "blocks":
      return printer.blocks(form);
    default:
      return form satisfies never;
  }
}

class LanePrinter {
  /** The counter. */
  readonly i: string;

  constructor(readonly nest: StatementPrinter, readonly loop: Loop) {
    this.i = nest.axis(loop.axis.symbol);
  }

  /** One loop, with what is the same for all lanes in front of it. */
  run({ uniform, lanes }: Form<"run">): void {
    const { nest, i } = this, { from, to } = nest.range(this.loop);
    nest.out.block("{", () => {
      nest.statements(uniform);
      nest.out.line('_Pragma("GCC ivdep")');
      nest.out.block(`for (long ${i} = ${from}; ${i} < ${to}; ${i}++) {`, () => nest.statements(lanes));
    });
  }

  groups({ uniform, lanes }: Form<"groups">): void {
    const { nest, i, loop: { reductions, axis: { size } } } = this, { from, to } = nest.range(this.loop);
    const { out } = nest, b = `b${nest.unique()}`;
    for (const r of reductions) this.#openLanes(r);
    const group = (count: string): void => {
      out.line('_Pragma("GCC ivdep") _Pragma("GCC unroll 1")');
      out.block(`for (long l = 0; l < ${count}; l++) {`, () => {
        out.line(`const long ${i} = ${b} + l;`);
        nest.statements(lanes);
        for (const r of reductions) {
          if (isPosition(r.op)) continue;
          const total = `v${r.id}_lanes[l]`;
          out.line(`${total} = ${combine(r.op, r.dtype, [total, nest.value(r.value)])};`);
        }
      });
    };
    out.block("{", () => {
      nest.statements(uniform);
      out.line(`long ${b} = ${from};`);
      if (typeof size !== "number" || size >= LANES) {
        out.block(`for (; ${b} + ${LANES} <= ${to}; ${b} += ${LANES}) {`, () => group(`${LANES}`));
      }
      if (typeof size !== "number" || size % LANES !== 0) group(`${to} - ${b}`);
    });
    for (const r of reductions) this.#closeLanes(r);
  }

  fold({ uniform, load }: Form<"fold">): void {
    const { nest, i, loop: { reductions } } = this, { from, to } = nest.range(this.loop);
    for (const r of reductions) this.#openLanes(r);
    nest.out.block("{", () => {
      nest.statements(uniform);
      for (const r of reductions) {
        this.#fold(r, { load, i, at: from, count: `${to} - (${from})`, crossing: new Set() });
      }
    });
    for (const r of reductions) this.#closeLanes(r);
  }

  blocks({ plan: { items, crossing }, direct }: Form<"blocks">): void {
    const { nest, i, loop: { reductions } } = this, { from, to } = nest.range(this.loop), { out } = nest;
    for (const r of reductions) this.#openLanes(r);
    const b = `b${nest.unique()}`;
    out.block("{", () => {
      this.#arrays(items, crossing);
      out.block(`for (long ${b} = ${from}; ${b} < ${to}; ${b} += ${BLOCK}) {`, () => {
        out.line(`const long cnt = ${to} - ${b} < ${BLOCK} ? ${to} - ${b} : ${BLOCK};`);
        this.#items(items, { i, b, crossing });
        for (const r of reductions) {
          this.#fold(r, { load: direct.get(r.value), i, at: b, count: "cnt", crossing });
        }
      });
    });
    for (const r of reductions) this.#closeLanes(r);
  }

  #openLanes(r: Reduction): void {
    const { nest } = this, name = `v${r.id}`;
    if (isPosition(r.op)) return nest.openReduction(r, "");
    const type = MEMORY_TYPE[r.dtype];
    nest.out.line(`${type} ${name}_lanes[${LANES}] __attribute__((aligned(64)));`);
    nest.out.line(`for (int l = 0; l < ${LANES}; l++) ${name}_lanes[l] = ${neutral(r.op, r.dtype)};`);
  }

  #closeLanes(r: Reduction): void {
    const { nest } = this;
    if (isPosition(r.op)) return nest.closeReduction(r);
    nest.names.fold(foldText(r.op, r.dtype, r.dtype));
    nest.out.line(
      `const ${VALUE_TYPE[r.dtype]} v${r.id} = ${foldName(r.op, r.dtype, r.dtype)}_end(v${r.id}_lanes);`,
    );
    nest.define(r.id, r.dtype);
  }

  /** Folds one block of contributions into the lanes. */
  #fold(
    r: Reduction,
    { load, i, at, count, crossing }: {
      readonly load: (Statement & { kind: "load" }) | undefined;
      readonly i: string;
      readonly at: string;
      readonly count: string;
      readonly crossing: ReadonlySet<ValueId>;
    },
  ): void {
    const { nest } = this,
      dtype = isPosition(r.op) ? nest.inputType(r) : r.dtype,
      name = foldName(r.op, dtype, r.dtype);
    nest.names.fold(foldText(r.op, dtype, r.dtype));
    const array = (id: ValueId, type: string): string => {
      if (crossing.has(id)) return `v${id}_`;
      const filled = `f${nest.unique()}`;
      nest.out.line(
        `${type} ${filled}[${BLOCK}];`,
        `for (long l = 0; l < ${count}; l++) ${filled}[l] = ${nest.value(id)};`,
      );
      return filled;
    };
    if (isPosition(r.op)) {
      const values = array(r.value, MEMORY_TYPE[dtype]),
        positions = array(r.index ?? r.value, VALUE_TYPE[r.dtype]);
      nest.out.line(`${name}(&v${r.id}_best, &v${r.id}, ${values}, ${positions}, ${count});`);
    } else if (load !== undefined) {
      nest.out.block("{", () => {
        nest.out.line(`const long ${i} = ${at};`);
        nest.out.line(
          `${name}(v${r.id}_lanes, ${nest.names.buffer(load.buffer)} + (${
            nest.index(load.index)
          }), ${count});`,
        );
      });
    } else nest.out.line(`${name}(v${r.id}_lanes, ${array(r.value, MEMORY_TYPE[r.dtype])}, ${count});`);
  }

  /** Declares the arrays of a block. */
  #arrays(items: readonly Item[], crossing: ReadonlySet<ValueId>): void {
    const { nest } = this;
    const declare = (type: string, name: string): void => {
      nest.out.line(`${type} ${name}[${BLOCK}] __attribute__((aligned(64)));`);
    };
    for (const item of items) {
      if (item.kind === "run") {
        for (const s of item.statements) {
          if (s.kind !== "advance" && "id" in s && crossing.has(s.id)) {
            declare(MEMORY_TYPE[s.dtype], `v${s.id}_`);
          }
        }
      } else if (item.kind === "loop") {
        for (const r of item.loop.reductions) {
          declare(MEMORY_TYPE[r.dtype], `v${r.id}_`);
          if (isPosition(r.op)) declare(MEMORY_TYPE[nest.inputType(r)], `v${r.id}_best`);
        }
        for (const c of item.loop.carried) declare(MEMORY_TYPE[c.dtype], `v${c.id}_`);
        this.#arrays(item.items, crossing);
      }
    }
  }

  #items(items: readonly Item[], lanes: { i: string; b: string; crossing: ReadonlySet<ValueId> }): void {
    const { nest } = this, { out } = nest;
    const each = (body: () => void): void => {
      out.line('_Pragma("GCC ivdep")');
      out.block("for (long l = 0; l < cnt; l++) {", () => {
        out.line(`const long ${lanes.i} = ${lanes.b} + l;`);
        body();
      });
    };
    for (const item of items) {
      if (item.kind === "uniform") nest.statement(item.statement);
      else if (item.kind === "run") {
        const kept: (Statement & { id: ValueId; dtype: ValueType })[] = [];
        each(() => {
          for (const s of item.statements) {
            if (s.kind === "advance") {
              nest.advance(s, "l");
              continue;
            }
            nest.statement(s);
            if ("id" in s && lanes.crossing.has(s.id)) {
              out.line(`v${s.id}_[l] = ${nest.value(s.id)};`);
              kept.push(s);
            }
          }
        });
        for (const s of kept) nest.define(s.id, s.dtype, `v${s.id}_[l]`);
      } else {
        const { loop } = item;
        if (loop.reductions.length + loop.carried.length > 0) {
          each(() => {
            for (const r of loop.reductions) nest.openReduction(r, "l");
            for (const c of loop.carried) out.line(`v${c.id}_[l] = ${nest.value(c.initial)};`);
          });
        }
        for (const c of loop.carried) nest.define(c.id, c.dtype, `v${c.id}_[l]`);
        const { from, to } = nest.range(loop), r = nest.axis(loop.axis.symbol);
        out.block(`for (long ${r} = ${from}; ${r} < ${to}; ${r}++) {`, () => this.#items(item.items, lanes));
        for (const x of loop.reductions) {
          if (isPosition(x.op)) each(() => out.line(`v${x.id}_[l] = v${x.id}_[l] < 0 ? 0 : v${x.id}_[l];`));
          nest.define(x.id, x.dtype, `v${x.id}_[l]`);
        }
      }
    }
  }
}
