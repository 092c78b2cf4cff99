/**
 * Special functions in float64 against numbers computed with 40 digits: PyTorch's own errors for Bessel and Airy
 * functions are too large to judge by its samples.
 */
import { assert, assertEquals } from "@std/assert";
import { igamma, igammac, polygamma, special, type Tensor, tensor } from "../mod.ts";

const wide = (x: number): Tensor => tensor([x], { dtype: "float64" });

const ONE: Readonly<Record<string, readonly (readonly [x: number, value: number])[]>> = {
  besselJ0: [
    [0, 1],
    [0.7, 0.8812008886074053],
    [-2.5, -0.048383776468198],
    [7.9, 0.19436184484127825],
    [8.1, 0.14751745404437766],
    [-30.25, -0.05443267228961778],
    [1000, 0.024786686152420176],
  ],
  besselJ1: [
    [1e-8, 5e-9],
    [0.7, 0.32899574154005895],
    [-2.5, -0.49709410246427405],
    [7.9, 0.2191793999217512],
    [8.1, 0.24760776698159287],
    [-30.25, 0.135377822725874],
    [1000, 0.004728311907089524],
  ],
  besselY0: [
    [0, -Infinity],
    [1e-8, -11.80077387717953],
    [2.5, 0.4980703596152319],
    [7.9, 0.20652094814437577],
    [8.1, 0.23809132870223482],
    [1000, 0.0047159179776228135],
  ],
  besselY1: [
    [1e-8, -63661977.236758195],
    [2.5, 0.1459181379667858],
    [7.9, -0.18172107728057313],
    [8.1, -0.13314879595249593],
    [1000, -0.024784331292351778],
    [-1, NaN],
  ],
  modifiedBesselI0: [[0, 1], [-3.5, 7.3782034322254795], [7.9, 389.406283282158], [20, 43558282.559553534]],
  modifiedBesselI1: [[0, 0], [-3.5, -6.205834922258365], [7.9, 363.8539440845084], [20, 42454973.38512777]],
  modifiedBesselK0: [
    [0, Infinity],
    [5e-324, 744.5560034370396],
    [1e-8, 18.536612259610777],
    [1.99, 0.1153017675517768],
    [2.01, 0.11250436099872804],
    [80, 2.5251198425054717e-36],
  ],
  modifiedBesselK1: [
    [5e-324, Infinity],
    [1e-8, 99999999.9999999],
    [1.99, 0.14171756162240132],
    [2.01, 0.1380408773192077],
    [80, 2.54085312752117e-36],
    [-1, NaN],
  ],
  ndtri: [
    [5e-324, -38.467405617144344],
    [1e-318, -38.14868137015514],
    [1e-306, -37.41788978635142],
    [1e-300, -37.0470962993612],
  ],
  scaledModifiedBesselK0: [[1.99, 0.8434939733789928], [9.5, 0.40156513211540534], [80, 0.13990735522662032]],
  scaledModifiedBesselK1: [[1.99, 1.0367396067608632], [9.5, 0.42219454297695785], [80, 0.14077907713800053]],
  airyAi: [
    [-8.5, -0.33029023763020887],
    [-4.01, -0.06234571058146581],
    [-3.99, -0.07815725135845715],
    [0, 0.3550280538878172],
    [1.99, 0.035458538570668385],
    [2.01, 0.034396707129894226],
    [30, 3.2082175915504954e-49],
  ],
  sphericalBesselJ0: [[0, 1], [0.7, 0.9203109817681301], [-9.5, -0.007910644259137822], [Infinity, 0]],
};

const TWO: Readonly<Record<string, readonly (readonly [a: number, b: number, value: number])[]>> = {
  zeta: [
    [1.001, 0.5, 1001.9648639703559],
    [2, 1, 1.6449340668482264],
    [2.5, 30, 0.004160042573845588],
    [3, -100.25, -62.01250410345885],
    [2, -0.001, 1000001.6473414317],
    [30, 0.5, 1073741824.0000052],
    [1, 2, Infinity],
    [2, -3, Infinity],
    [2.5, -1.5, NaN],
    [0.5, 2, NaN],
  ],
  igamma: [
    [0.5, 0.2, 0.4729107431344619],
    [50, 55, 0.7677952194991436],
    [1000, 990, 0.3795213785379639],
    [0.001, 0.001, 0.9936876467088603],
    [100000, 100100, 0.6244451307044055],
    [1e8, 1.0001e8, 0.8413447464717984],
    [1e12, 1e12, 0.5000001329807601],
    [0, 1, 1],
    [1, Infinity, 1],
    [-1, 1, NaN],
  ],
  igammac: [
    [0.5, 4, 0.004677734981047266],
    [2, 3, 0.19914827347145578],
    [1000, 1500, 2.204698611388996e-43],
    [1e8, 1.0001e8, 0.1586552535282016],
    [1e30, 1e30, 0.5],
    [1e30, 1e31, 0],
    [Infinity, 1, 1],
  ],
  polygamma: [
    [1, 0.5, 4.934802200544679],
    [2, -2.5, -0.1082040516417274],
    [3, 7, 0.007198198563125445],
    [5, -0.001, 1.1999999999999998e20],
    [4, 100, -6.120999930011997e-8],
    [1, Infinity, 0],
    [3, Infinity, 0],
  ],
};

/** Near 45 units in the last place, beside the 1 that amplitudes are at most. */
function near(found: number, value: number): boolean {
  return Object.is(found, value) || Math.abs(found - value) <= 1e-14 * Math.abs(value) + 1e-15;
}

Deno.test("special functions have 14 digits in float64", () => {
  const missed: string[] = [];
  const judge = (call: string, found: Tensor, value: number) => {
    if (!near(Number(found.item()), value)) missed.push(`${call} is ${found.item()}, not ${value}`);
  };
  for (const [name, rows] of Object.entries(ONE)) {
    const of: unknown = Reflect.get(special, name);
    assert(typeof of === "function", name);
    for (const [x, value] of rows) judge(`${name}(${x})`, Reflect.apply(of, null, [wide(x)]), value);
  }
  const pairs: Readonly<Record<string, (a: number, b: number) => Tensor>> = {
    zeta: (a, b) => special.zeta(wide(a), wide(b)),
    igamma: (a, b) => igamma(wide(a), wide(b)),
    igammac: (a, b) => igammac(wide(a), wide(b)),
    polygamma: (n, x) => polygamma(n, wide(x)),
  };
  for (const [name, rows] of Object.entries(TWO)) {
    for (const [a, b, value] of rows) {
      const found = pairs[name]?.(a, b);
      assert(found, name);
      judge(`${name}(${a}, ${b})`, found, value);
    }
  }
  assert(missed.length === 0, missed.join("\n"));
});

Deno.test("the second Bessel function of order 1 rises without bound at 0", () => {
  const x = tensor([0, 2], { dtype: "float64", requiresGrad: true });
  special.besselY1(x).sum().backward();
  const [atZero, above = NaN] = x.grad?.tolist<number[]>() ?? [];
  assertEquals(atZero, Infinity);
  assert(Math.abs(above - 0.5638918884) < 1e-9);
});
