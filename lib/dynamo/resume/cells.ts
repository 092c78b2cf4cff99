/**
 * The forms of a captured variable: access to a user's variable, a box of generated code, a view that printed closures
 * use; all convert to each other. Invariant: two forms have the same identity exactly if they are the same variable.
 */
import { ownWeakMap } from "../../base/collections.ts";
import { types } from "node:util";
import { Box as NamedBox, LiveView, runtime, UNINITIALIZED } from "../bytecode/runtime.ts";
import type { LiveCell } from "../frame/info.ts";

/** An object whose property `v` is the variable. */
export interface Box {
  v: unknown;
}

const cellsOfBoxes = ownWeakMap<Box, LiveCell>();
const boxesOfCells = ownWeakMap<LiveCell, Box>();

/** Returns whether a value is a box or a view. */
export function isBox(value: unknown): value is Box {
  return typeof value === "object" && value !== null && "v" in value;
}

/** Returns whether a value is a variable of generated code; no code of the program runs. */
export function isVariable(value: unknown): value is Box {
  if (typeof value !== "object" || value === null || types.isProxy(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === NamedBox.prototype || prototype === LiveView.prototype;
}

/** Access to a box in the form of any other variable. */
export function cellOfBox(box: Box): LiveCell {
  if (box instanceof LiveView) return box.cell;
  let cell = cellsOfBoxes.get(box);
  if (!cell) {
    cell = {
      get: () => {
        if (box.v === UNINITIALIZED) {
          runtime.uninitialized(box instanceof NamedBox ? box.name : "a variable");
        }
        return box.v;
      },
      set: (value) => {
        box.v = value;
      },
    };
    cellsOfBoxes.set(box, cell);
    boxesOfCells.set(cell, box);
  }
  return cell;
}

/** A variable in the form that printed closures expect. */
export function boxOfCell(cell: LiveCell): Box {
  return boxesOfCells.get(cell) ?? runtime.live(cell);
}
