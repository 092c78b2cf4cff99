/**
 * A program of common eager calls, for tests of the prepared cache. It prints a JSON line with the classes that it
 * made, the programs that it cached and those that it reused, including those shipped with dyn.
 */
import { counters, nn, noGrad, rand, randn } from "../../mod.ts";

const x = randn([200, 300]), y = randn([200, 300]), row = randn([300]), p = rand([77, 900]);
noGrad(() => {
  const made = [x.add(y), x.mul(row), x.sub(y), x.exp(), x.tanh(), x.relu(), p.log(), p.sqrt(), x.gt(y)];
  made.push(x.where(x.gt(0), y), x.clamp(-1, 1), x.to("float64"), x.sum(), x.sum(1), x.softmax(1), x.pow(2));
  made.push(nn.functional.gelu(x), nn.functional.layerNorm(x, [300], row, row));
});
console.log(JSON.stringify({
  classes: counters.get("eager", "classes"),
  stored: counters.get("cached_programs", "stored"),
  hits: counters.get("cached_classes", "hits") + counters.get("cached_classes", "shipped"),
}));
