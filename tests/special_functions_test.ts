/**
 * Special functions against numbers computed with 40 digits: the reference's, which judge all printers, must give the
 * nearest double (or its neighbour) everywhere, even next to zeros.
 */
import { assert } from "@std/assert";
import * as reference from "./reference/special.ts";

type Name = "erf" | "erfc" | "lgamma" | "digamma";

/** Arguments and values, rounded to doubles once. */
const VALUES: Readonly<Record<Name, readonly (readonly [x: number, value: number])[]>> = {
  erf: [
    [1e-300, 1.1283791670955126e-300],
    [1e-7, 1.1283791670955088e-7],
    [0.1, 0.1124629160182849],
    [0.5, 0.5204998778130465],
    [1, 0.8427007929497149],
    [1.99, 0.995111413199617],
    [2, 0.9953222650189527],
    [2.5, 0.999593047982555],
    [3.5, 0.9999992569016276],
    [5.9, 0.9999999999999999],
    [-0.7, -0.6778011938374184],
  ],
  erfc: [
    [-3, 1.9999779095030015],
    [-0.5, 1.5204998778130465],
    [1e-7, 0.9999998871620833],
    [0.5, 0.4795001221869535],
    [0.65625, 0.35336729199329187],
    [0.90625, 0.19997210583576702],
    [0.984375, 0.16388712994960353],
    [1.3, 0.06599205505934755],
    [1.99, 0.004888586800383003],
    [2, 0.004677734981047266],
    [3.7, 1.6715105790914599e-7],
    [6, 2.1519736712498913e-17],
    [10, 2.088487583762545e-45],
    [15, 7.212994172451207e-100],
    [26.5, 2.2109076642637343e-307],
  ],
  lgamma: [
    [1e-300, 690.7755278982137],
    [1e-9, 20.723265836369194],
    [0.3, 1.0957979948180756],
    [0.9999, 5.7729791561193866e-5],
    [1 + 2 ** -40, -5.249745890076018e-13],
    [1.5, -0.12078223763524522],
    [2 - 2 ** -40, -3.845201127643794e-13],
    [2.5, 0.2846828704729192],
    [7.25, 7.0521854507385395],
    [39.9, 106.26425420569794],
    [41, 110.32063971475739],
    [171.5, 709.1431630309282],
    [1e10, 220258509288.81058],
    [1e300, 6.897755278982137e302],
    [-0.5, 1.2655121234846454],
    [-1.5, 0.860047015376481],
    [-20.7, -43.105133189536225],
    [-2.457024738220801, -6.168712140884665e-16],
  ],
  digamma: [
    [1e-9, -1000000000.5772156],
    [0.3, -3.502524222200133],
    [1, -0.5772156649015329],
    [1.5, 0.03648997397857652],
    [5.5, 1.6110931485817512],
    [39.9, 3.67379265413217],
    [41, 3.701327374034843],
    [1e10, 23.025850929890456],
    [-0.5, 0.03648997397857652],
    [-20.7, 0.7715931850825055],
    [1.4616321449683622, -9.241265521729427e-17],
    [-0.504083008264455, 4.042965717222496e-15],
    [-1.5734984731623904, 1.5649788481838454e-16],
  ],
};

const ulp = (x: number) => 2 ** (Math.floor(Math.log2(Math.max(Math.abs(x), 2 ** -1022))) - 52);

Deno.test("the reference's special functions have the nearest doubles, or neighbours of them", () => {
  const functions = { ...reference } satisfies Record<Name, (x: number) => number>;
  for (const name of Object.keys(VALUES).filter(isName)) {
    for (const [x, value] of VALUES[name]) {
      const found = functions[name](x), units = Math.abs(found - value) / ulp(value);
      // one zero of lgamma is so near that its value has 48 digits behind the point
      assert(
        units <= (Math.abs(value) < 1e-14 ? 16 : 1),
        `${name}(${x}) is ${found}, not ${value}: ${units} units`,
      );
    }
  }
});

function isName(name: string): name is Name {
  return Object.hasOwn(VALUES, name);
}
