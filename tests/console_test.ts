/** What the console shows of modules, optimizers, schedules and loaders: their settings, never their elements. */
import { assertEquals } from "@std/assert";
import { compile, data, nn, optim, randn, type Tensor, tensor } from "../mod.ts";

const model = () => new nn.Sequential(new nn.Linear(4, 8), new nn.ReLU(), new nn.Linear(8, 2));

Deno.test("modules show their tree", () => {
  assertEquals(
    Deno.inspect(model()),
    `Sequential(
  (0): Linear(inFeatures=4, outFeatures=8, bias=true)
  (1): ReLU()
  (2): Linear(inFeatures=8, outFeatures=2, bias=true)
)`,
  );
});

Deno.test("optimizers show their groups, schedules their rates, loaders their batches", () => {
  const optimizer = new optim.SGD(model().parameters(), { lr: 0.1, momentum: 0.9 });
  const schedule = new optim.lrScheduler.StepLR(optimizer, { stepSize: 2 });
  assertEquals(
    Deno.inspect(optimizer),
    `SGD (
Parameter Group 0
    dampening: 0
    lr: 0.1
    maximize: false
    momentum: 0.9
    nesterov: false
    weightDecay: 0
)`,
  );
  schedule.step();
  assertEquals(Deno.inspect(schedule), "StepLR(lastEpoch=1, stepSize=2, gamma=0.1, rates=[ 0.1 ])");
  const loader = new data.DataLoader([tensor([1]), tensor([2]), tensor([3])], { batchSize: 2 });
  assertEquals(Deno.inspect(loader), "DataLoader(3 samples, batchSize=2, shuffle=false, dropLast=false)");
});

Deno.test("a backend may hand on the graph's own function", () => {
  const f = compile((x: Tensor) => x.sin().add(1), { backend: (gm) => gm.forward });
  const x = randn([3]);
  assertEquals(f(x).tolist(), x.sin().add(1).tolist());
});

Deno.test("elements are numbers to the type checker", () => {
  let total = 0;
  total += tensor([1.5, 2]).sum().item();
  const isWhole: boolean = tensor([true]).all().item<boolean>();
  assertEquals([total, isWhole], [3.5, true]);
});
