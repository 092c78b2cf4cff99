/**
 * Hyperparameters of a run and its metrics, for TensorBoard's plugin `hparams`. Field numbers: plugin_data.proto,
 * api.proto of that plugin, struct.proto. Invariant: the three contents belong to one run.
 */
import { refuseValue } from "../../base/checked_input.ts";
import { concat } from "../../base/bytes.ts";
import { bytesField, doubleField, intField } from "../../base/protobuf.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";

/** The value of a hyperparameter. */
export type Hyperparameter = number | string | boolean | Tensor;

/** The plugin's number of each type, and the field of a value of that type. */
const STRING = { type: 1, field: 3 }, BOOL = { type: 2, field: 4 }, FLOAT64 = { type: 3, field: 2 };

/** SUCCESS among the plugin's final states. */
const SUCCESS = 1;

interface Encoded {
  readonly name: string;
  readonly type: number;
  readonly value: Uint8Array;
}

function encoded(name: string, given: Hyperparameter): Encoded {
  const value = isTensor(given) ? Number(given.item()) : given;
  switch (typeof value) {
    case "string":
      return { name, type: STRING.type, value: bytesField(STRING.field, value) };
    case "boolean":
      return { name, type: BOOL.type, value: intField(BOOL.field, Number(value)) };
    case "number":
      return { name, type: FLOAT64.type, value: doubleField(FLOAT64.field, value) };
    default:
      return refuseValue(`a number, a string or a boolean as the hyperparameter ${name}`, value);
  }
}

/** The tags and contents of a run's three values: the experiment, and the start and the end of its session. */
export function hparamContents(
  hparams: Readonly<Record<string, Hyperparameter>>,
  metrics: readonly string[],
): readonly (readonly [tag: string, content: Uint8Array])[] {
  const given = Object.entries(hparams).map(([name, value]) => encoded(name, value));
  const infos = given.map(({ name, type }) => bytesField(4, concat(bytesField(1, name), intField(4, type))));
  const judged = metrics.map((tag) => bytesField(5, bytesField(1, bytesField(2, tag))));
  const start = given.map(({ name, value }) =>
    bytesField(1, concat(bytesField(1, name), bytesField(2, value)))
  );
  return [
    ["_hparams_/experiment", bytesField(2, concat(...infos, ...judged))],
    ["_hparams_/session_start_info", bytesField(3, concat(...start))],
    ["_hparams_/session_end_info", bytesField(4, intField(1, SUCCESS))],
  ];
}
