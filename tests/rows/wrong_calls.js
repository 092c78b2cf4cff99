/**
 * Wrong calls as people make them: each on a line of its own, with what its error must name. Not TypeScript, since the
 * type checker rejects most of them.
 */

/** The calls. `says`: parts of the message, in order. */
export function wrongCalls(dyn) {
  const { tensor, randn, zeros, nn, optim, data, compiler, autograd, linalg, safetensors } = dyn;
  const F = nn.functional;
  const a = randn(2, 3), b = randn(4, 5), ints = tensor([1, 2, 3]);
  const image = randn(1, 4, 8, 8);
  class Net extends nn.Module {
    layers = new nn.Sequential(new nn.Linear(3, 4), new nn.ReLU(), new nn.Linear(5, 2));
    forward(x) {
      return this.layers.call(x);
    }
  }
  const net = new Net(),
    [compiled, whole] = [false, true].map((fullgraph) => dyn.compile(net, { backend: "eager", fullgraph }));
  const linear = new nn.Linear(3, 2), words = randn(3, 2, 8);
  const attention = new nn.MultiheadAttention(8, 4), lr = optim.lrScheduler;
  const sgd = new optim.SGD(net.parameters(), { momentum: 0.9 });
  const otherSchedule = new lr.ConstantLR(new optim.SGD(net.parameters()));
  return [
    // Shapes
    { call: () => a.add(b), says: ["[2, 3]", "[4, 5]"] },
    { call: () => a.sub(b), says: ["[2, 3]", "[4, 5]"] },
    { call: () => a.matmul(b), says: ["matmul", "[2, 3]", "[4, 5]"] },
    { call: () => a.mm(b), says: ["mm", "[2, 3]", "[4, 5]"] },
    { call: () => a.bmm(b), says: ["bmm", "[2, 3]"] },
    { call: () => a.mv(b), says: ["mv"] },
    { call: () => a.dot(b), says: ["dot"] },
    { call: () => a.view(7), says: ["[7]", "6"] },
    { call: () => a.reshape(4, 2), says: ["[4, 2]", "6"] },
    { call: () => a.reshape(-1, -1), says: ["-1"] },
    { call: () => a.permute(0, 0), says: ["0"] },
    { call: () => a.transpose(0, 5), says: ["5"] },
    { call: () => a.squeeze(9), says: ["[-2, 1]", "9"] },
    { call: () => a.unsqueeze(9), says: ["9"] },
    { call: () => a.expand(5, 5), says: ["[5, 5]", "[2, 3]"] },
    { call: () => a.sum(7), says: ["[-2, 1]", "7"] },
    { call: () => a.mean(-5), says: ["[-2, 1]", "-5"] },
    { call: () => a.softmax(4), says: ["[-2, 1]", "4"] },
    { call: () => a.argmax(3), says: ["[-2, 1]", "3"] },
    { call: () => a.split([1, 5], 0), says: ["2"] },
    // What PyTorch refuses too
    { call: () => dyn.where(a.gt(0)), says: ["nonzero(condition, { asTuple: true })"] },
    { call: () => dyn.multinomial(zeros(3), 1), says: ["not all zero"] },
    { call: () => new optim.lrScheduler.StepLR(3, 1), says: ["an optimizer in StepLR", "3"] },
    { call: () => F.huberLoss(ints, ints), says: ["huberLoss", "int64"] },
    { call: () => F.avgPool1d(tensor([[1, 2]], { dtype: "uint8" }), 1), says: ["uint8"] },
    { call: () => dyn.trapezoid(tensor([true, false])), says: ["trapezoid", "bool"] },
    { call: () => nn.init.zeros_(3), says: ["a tensor for nn.init", "3"] },
    {
      call: () => new dyn.distributions.Normal(0, 1).logProb(3),
      says: ["a tensor for logProb of Normal", "3"],
    },
    { call: () => new nn.ModuleList().extend(null), says: ["extend", "null"] },
    { call: () => dyn.func.stackModuleState([3]), says: ["an instance of Module", "3"] },
    { call: () => a.chunk(0), says: ["0"] },
    { call: () => a.at(9), says: ["9"] },
    { call: () => a.at(0, 0, 0), says: ["3"] },
    { call: () => a.at("a"), says: ["a"] },
    { call: () => a.set([0, 7], 1), says: ["7"] },
    { call: () => a.gather(0, ints), says: ["gather"] },
    { call: () => a.indexSelect(5, ints), says: ["5"] },
    { call: () => a.topk(9), says: ["9"] },
    { call: () => a.item(), says: ["[2, 3]"] },
    { call: () => a.add_(b), says: ["[2, 3]", "[4, 5]"] },
    { call: () => a.repeat(2), says: ["2"] },
    { call: () => a.flip(3), says: ["3"] },
    { call: () => a.unfold(0, 9, 1), says: ["9"] },
    { call: () => a.t().view(6), says: ["view"] },
    { call: () => dyn.cat([a, b]), says: ["[2, 3]", "[4, 5]"] },
    { call: () => dyn.cat([]), says: ["tensor"] },
    { call: () => dyn.stack([a, b]), says: ["[2, 3]", "[4, 5]"] },
    { call: () => dyn.einsum("ij,jk->ik", a, b), says: ["j", "3", "4"] },
    { call: () => dyn.where(a, a, b), says: ["bool", "float32"] },
    { call: () => linalg.inv(a), says: ["square", "[2, 3]"] },
    // Types and devices
    { call: () => a.to("float31"), says: ["float31"] },
    { call: () => a.to("cuda"), says: ["cuda"] },
    { call: () => a.to({ dtype: "float31" }), says: ["float31"] },
    { call: () => zeros(2, { dtype: "double" }), says: ["double", "float64"] },
    { call: () => ints.requiresGrad_(), says: ["int64"] },
    { call: () => linear.call(tensor([1, 2, 3])), says: ["int64 and float32; tensor([2.0]) is int64"] },
    { call: () => autograd.grad({ outputs: zeros(9, 9) }, a), says: ["named arguments", "tensor([["] },
    { call: () => ints.mean(), says: ["int64"] },
    { call: () => a.bitwiseAnd(a), says: ["float32"] },
    // Creation
    { call: () => dyn.randint(5, 2, [3]), says: ["5", "2"] },
    { call: () => dyn.arange(0, 5, -1), says: ["-1"] },
    { call: () => dyn.linspace(0, 1, -3), says: ["-3"] },
    { call: () => tensor([[1, 2], [3]]), says: ["2", "1"] },
    { call: () => zeros(-1), says: ["-1"] },
    { call: () => dyn.eye(2.5), says: ["2.5"] },
    { call: () => new dyn.Tensor([1, 2]), says: ["tensor(data)"] },
    // nn
    { call: () => linear.call(randn(2, 4)), says: ["[2, 4]"] },
    { call: () => net.call(a), says: ["in Net.layers.2 (Linear)"], line: "this.layers.call(x)" },
    { call: () => compiled(a), says: ["in Net.layers.2 (Linear)"], line: "this.layers.call(x)" },
    { call: () => whole.call(a), says: ["in Net.layers.2 (Linear)"], line: "this.layers.call(x)" },
    { call: () => F.conv2d(image, randn(8, 3, 3, 3)), says: ["3", "4"] },
    { call: () => F.layerNorm(a, [4]), says: ["[4]", "[2, 3]"] },
    { call: () => F.embedding(tensor([7]), randn(5, 2)), says: ["7"] },
    { call: () => F.crossEntropy(a, tensor([0, 9])), says: ["9"] },
    { call: () => F.crossEntropy(a, tensor([0, 1, 2])), says: ["[3]"] },
    { call: () => F.mseLoss(a, b), says: ["[2, 3]", "[4, 5]"] },
    { call: () => F.dropout(a, 2), says: ["2"] },
    { call: () => F.maxPool2d(image, 9), says: ["9"] },
    { call: () => net.loadStateDict({}), says: ["layers.0.weight"] },
    { call: () => net.registerBuffer("layers", a), says: ["layers"] },
    { call: () => new optim.SGD("a"), says: ["parameters"] },
    { call: () => new optim.Adam(net.parameters(), { lr: -1 }), says: ["lr", "-1"] },
    { call: () => F.scaledDotProductAttention(a, a, a, ints), says: ["attnMask", "int64"] },
    {
      call: () => attention.call(words, words, words, { attnMask: zeros(2, 2) }),
      says: ["attnMask of shape [3, 3] or [8, 3, 3]", "[2, 2]"],
    },
    {
      call: () => attention.call(words, words, words, { keyPaddingMask: zeros(3, 2) }),
      says: ["keyPaddingMask of shape [2, 3]", "[3, 2]"],
    },
    {
      call: () => attention.call(words, words, words, { keyPaddingMask: tensor([[0, 0, 1], [0, 1, 1]]) }),
      says: ["keyPaddingMask of bools or floats", "int64"],
    },
    { call: () => new nn.LSTM(3, 4, { numLayers: 0 }), says: ["numLayers", "0"] },
    { call: () => new nn.GRU(3, 4, { dropout: 2 }), says: ["dropout", "2"] },
    { call: () => new nn.Conv2d(3, 4, 3, { padding: "full" }), says: ["padding of Conv2d", "full"] },
    { call: () => new nn.Conv1d(3, 4, 3, { paddingMode: "wrap" }), says: ["paddingMode of Conv1d", "wrap"] },
    {
      call: () => new nn.ConvTranspose2d(3, 4, 3, { paddingMode: "reflect" }),
      says: ["paddingMode of ConvTranspose2d", "reflect"],
    },
    { call: () => nn.init.truncNormal_(zeros(3), { a: 2, b: 1 }), says: ["a below b", "2 and 1"] },
    // Optimizers and schedules
    { call: () => new optim.Adadelta(net.parameters(), { rho: 1.5 }), says: ["rho", "1.5"] },
    { call: () => new optim.Rprop(net.parameters(), { etas: [1, 0.5] }), says: ["etas", "0.5"] },
    { call: () => new optim.NAdam(net.parameters(), { momentumDecay: -1 }), says: ["momentumDecay", "-1"] },
    { call: () => new optim.Adafactor(net.parameters(), { beta2Decay: 1 }), says: ["beta2Decay", "1"] },
    { call: () => new optim.Adafactor(net.parameters(), { eps: [-1, 1] }), says: ["eps", "-1"] },
    { call: () => new optim.Adam(net.parameters(), { foreach: true, fused: true }), says: ["both"] },
    { call: () => new lr.StepLR(sgd, 0), says: ["stepSize", "0"] },
    { call: () => new lr.MultiStepLR(sgd, 3), says: ["milestones of MultiStepLR", "3"] },
    { call: () => new lr.CosineAnnealingWarmRestarts(sgd, 2, 1.5), says: ["tMult", "1.5"] },
    { call: () => new lr.OneCycleLR(sgd, 1, 9, { pctStart: 2 }), says: ["pctStart", "2"] },
    { call: () => new lr.OneCycleLR(sgd, 1, 9, { annealStrategy: "log" }), says: ["annealStrategy", "log"] },
    { call: () => new lr.SequentialLR(sgd, [otherSchedule], []), says: ["schedules of one optimizer"] },
    // Names
    { call: () => a.sum({ axis: 1 }), says: ["axis; write dim"] },
    { call: () => a.mean(1, { keepdims: true }), says: ["keepdims; write keepdim"] },
    { call: () => new data.DataLoader([1], { batchsize: 2 }), says: ["batchsize; write batchSize"] },
    // Gradients
    { call: () => a.backward(), says: ["grad"] },
    {
      call: () => twice(randn(3, { requiresGrad: true }).exp()),
      says: ["retainGraph"],
      line: "y.sum().backward();",
    },
    {
      call: () => overwritten(randn(3, { requiresGrad: true })),
      says: ["version"],
      line: "y.sum().backward();",
    },
    { call: () => randn(3, { requiresGrad: true }).backward(), says: ["[3]"] },
    { call: () => randn(3, { requiresGrad: true }).add_(1), says: ["leaf"] },
    { call: () => autograd.grad(a.sum(), [a]), says: ["grad"] },
    // Files, data, compilation
    { call: () => safetensors.save({ a: 3 }), says: ["tensor", "a"] },
    {
      call: () => new data.DataLoader(new data.TensorDataset(a), { batchSize: 0 }),
      says: ["batchSize", "0"],
    },
    { call: () => dyn.compile((x) => x, { backend: "bogus" })(a), says: ["bogus"] },
    { call: () => dyn.compile(3), says: ["function", "3"] },
    { call: () => compiler.setStance("bogus"), says: ["bogus"] },
    { call: () => (dyn.config.cacheSizeLimit = "many"), says: ["cacheSizeLimit", "many"] },
  ];
}

function twice(y) {
  y.sum().backward();
  y.sum().backward();
}

function overwritten(x) {
  const y = x.exp();
  y.add_(1);
  y.sum().backward();
}
