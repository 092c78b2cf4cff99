/**
 * Defaults of PyTorch's optimizers and modules, from the signatures of their constructors (version 2.15). Left out are
 * those that say nothing here: devices, types, choices of an implementation, deprecated names, and null for a choice
 * that has a name.
 */

/** Constructors with the same required arguments and the same defaults. */
export interface Defaults {
  readonly names: readonly string[];
  /** Names of required arguments, in order. */
  readonly required?: readonly string[];
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** Optimizers; the parameters are required. */
export const OPTIMIZERS: readonly Defaults[] = [
  {
    names: ["ASGD"],
    defaults: { lr: 0.01, lambd: 0.0001, alpha: 0.75, t0: 1000000, weightDecay: 0, maximize: false },
  },
  { names: ["Adadelta"], defaults: { lr: 1, rho: 0.9, eps: 1e-6, weightDecay: 0, maximize: false } },
  {
    names: ["Adafactor"],
    defaults: { lr: 0.01, beta2Decay: -0.8, eps: [null, 0.001], d: 1, weightDecay: 0, maximize: false },
  },
  {
    names: ["Adagrad"],
    defaults: {
      lr: 0.01,
      lrDecay: 0,
      weightDecay: 0,
      initialAccumulatorValue: 0,
      eps: 1e-10,
      maximize: false,
    },
  },
  {
    names: ["Adam"],
    defaults: {
      lr: 0.001,
      betas: [0.9, 0.999],
      eps: 1e-8,
      weightDecay: 0,
      amsgrad: false,
      maximize: false,
      decoupledWeightDecay: false,
    },
  },
  {
    names: ["AdamW"],
    defaults: {
      lr: 0.001,
      betas: [0.9, 0.999],
      eps: 1e-8,
      weightDecay: 0.01,
      amsgrad: false,
      maximize: false,
    },
  },
  {
    names: ["Adamax"],
    defaults: { lr: 0.002, betas: [0.9, 0.999], eps: 1e-8, weightDecay: 0, maximize: false },
  },
  {
    names: ["LBFGS"],
    defaults: {
      lr: 1,
      maxIter: 20,
      maxEval: null,
      toleranceGrad: 1e-7,
      toleranceChange: 1e-9,
      historySize: 100,
      lineSearchFn: null,
      maximize: false,
    },
  },
  {
    names: ["Muon"],
    defaults: {
      lr: 0.001,
      weightDecay: 0.1,
      momentum: 0.95,
      nesterov: true,
      nsCoefficients: [3.4445, -4.775, 2.0315],
      eps: 1e-7,
      nsSteps: 5,
    },
  },
  {
    names: ["NAdam"],
    defaults: {
      lr: 0.002,
      betas: [0.9, 0.999],
      eps: 1e-8,
      weightDecay: 0,
      momentumDecay: 0.004,
      decoupledWeightDecay: false,
      maximize: false,
    },
  },
  {
    names: ["RAdam"],
    defaults: {
      lr: 0.001,
      betas: [0.9, 0.999],
      eps: 1e-8,
      weightDecay: 0,
      decoupledWeightDecay: false,
      maximize: false,
    },
  },
  {
    names: ["RMSprop"],
    defaults: {
      lr: 0.01,
      alpha: 0.99,
      eps: 1e-8,
      weightDecay: 0,
      momentum: 0,
      centered: false,
      maximize: false,
    },
  },
  { names: ["Rprop"], defaults: { lr: 0.01, etas: [0.5, 1.2], stepSizes: [1e-6, 50], maximize: false } },
  {
    names: ["SGD"],
    defaults: { lr: 0.001, momentum: 0, dampening: 0, weightDecay: 0, nesterov: false, maximize: false },
  },
];

/** Modules. */
export const MODULES: readonly Defaults[] = [
  {
    names: ["AdaptiveLogSoftmaxWithLoss"],
    required: ["inFeatures", "nClasses", "cutoffs"],
    defaults: { divValue: 4, headBias: false },
  },
  {
    names: ["AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d"],
    required: ["outputSize"],
    defaults: { returnIndices: false },
  },
  {
    names: ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"],
    required: [],
    defaults: { p: 0.5, inplace: false },
  },
  {
    names: ["AvgPool1d"],
    required: ["kernelSize"],
    defaults: { stride: null, padding: 0, ceilMode: false, countIncludePad: true },
  },
  {
    names: ["AvgPool2d", "AvgPool3d"],
    required: ["kernelSize"],
    defaults: { stride: null, padding: 0, ceilMode: false, countIncludePad: true, divisorOverride: null },
  },
  {
    names: ["BCELoss", "MultiLabelSoftMarginLoss"],
    required: [],
    defaults: { weight: null, reduction: "mean" },
  },
  {
    names: ["BCEWithLogitsLoss"],
    required: [],
    defaults: { weight: null, reduction: "mean", posWeight: null },
  },
  {
    names: ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"],
    required: ["numFeatures"],
    defaults: { eps: 1e-5, momentum: 0.1, affine: true, trackRunningStats: true, bias: true },
  },
  { names: ["Bilinear"], required: ["in1Features", "in2Features", "outFeatures"], defaults: { bias: true } },
  { names: ["CELU", "ELU"], required: [], defaults: { alpha: 1, inplace: false } },
  { names: ["CTCLoss"], required: [], defaults: { blank: 0, reduction: "mean", zeroInfinity: false } },
  {
    names: ["Conv1d", "Conv2d", "Conv3d"],
    required: ["inChannels", "outChannels", "kernelSize"],
    defaults: { stride: 1, padding: 0, dilation: 1, groups: 1, bias: true, paddingMode: "zeros" },
  },
  {
    names: ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"],
    required: ["inChannels", "outChannels", "kernelSize"],
    defaults: {
      stride: 1,
      padding: 0,
      outputPadding: 0,
      groups: 1,
      bias: true,
      dilation: 1,
      paddingMode: "zeros",
    },
  },
  {
    names: ["CosineEmbeddingLoss", "MarginRankingLoss"],
    required: [],
    defaults: { margin: 0, reduction: "mean" },
  },
  { names: ["CosineSimilarity"], required: [], defaults: { dim: 1, eps: 1e-8 } },
  {
    names: ["CrossEntropyLoss"],
    required: [],
    defaults: { weight: null, ignoreIndex: -100, reduction: "mean", labelSmoothing: 0 },
  },
  {
    names: ["Embedding"],
    required: ["numEmbeddings", "embeddingDim"],
    defaults: { paddingIdx: null, maxNorm: null, normType: 2, scaleGradByFreq: false, sparse: false },
  },
  {
    names: ["EmbeddingBag"],
    required: ["numEmbeddings", "embeddingDim"],
    defaults: {
      maxNorm: null,
      normType: 2,
      scaleGradByFreq: false,
      mode: "mean",
      sparse: false,
      includeLastOffset: false,
      paddingIdx: null,
    },
  },
  { names: ["Flatten"], required: [], defaults: { startDim: 1, endDim: -1 } },
  {
    names: ["Fold"],
    required: ["outputSize", "kernelSize"],
    defaults: { dilation: 1, padding: 0, stride: 1 },
  },
  {
    names: ["FractionalMaxPool2d", "FractionalMaxPool3d"],
    required: ["kernelSize"],
    defaults: { outputSize: null, outputRatio: null, returnIndices: false },
  },
  { names: ["GELU"], required: [], defaults: { approximate: "none" } },
  { names: ["GLU"], required: [], defaults: { dim: -1 } },
  { names: ["GRUCell", "LSTMCell"], required: ["inputSize", "hiddenSize"], defaults: { bias: true } },
  { names: ["GaussianNLLLoss"], required: [], defaults: { full: false, eps: 1e-6, reduction: "mean" } },
  {
    names: ["GroupNorm"],
    required: ["numGroups", "numChannels"],
    defaults: { eps: 1e-5, affine: true, bias: true },
  },
  { names: ["Hardshrink", "Softshrink"], required: [], defaults: { lambd: 0.5 } },
  {
    names: ["Hardsigmoid", "Hardswish", "Mish", "ReLU", "ReLU6", "SELU", "SiLU"],
    required: [],
    defaults: { inplace: false },
  },
  { names: ["Hardtanh"], required: [], defaults: { minVal: -1, maxVal: 1, inplace: false } },
  { names: ["HingeEmbeddingLoss"], required: [], defaults: { margin: 1, reduction: "mean" } },
  { names: ["HuberLoss"], required: [], defaults: { reduction: "mean", delta: 1 } },
  {
    names: ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"],
    required: ["numFeatures"],
    defaults: { eps: 1e-5, momentum: 0.1, affine: false, trackRunningStats: false, bias: true },
  },
  { names: ["KLDivLoss"], required: [], defaults: { reduction: "mean", logTarget: false } },
  {
    names: ["L1Loss", "MSELoss", "MultiLabelMarginLoss", "SoftMarginLoss"],
    required: [],
    defaults: { reduction: "mean" },
  },
  {
    names: ["LPPool1d", "LPPool2d", "LPPool3d"],
    required: ["normType", "kernelSize"],
    defaults: { stride: null, ceilMode: false },
  },
  {
    names: ["LayerNorm"],
    required: ["normalizedShape"],
    defaults: { eps: 1e-5, elementwiseAffine: true, bias: true },
  },
  {
    names: [
      "LazyBatchNorm1d",
      "LazyBatchNorm2d",
      "LazyBatchNorm3d",
      "LazyInstanceNorm1d",
      "LazyInstanceNorm2d",
      "LazyInstanceNorm3d",
    ],
    required: [],
    defaults: { eps: 1e-5, momentum: 0.1, affine: true, trackRunningStats: true, bias: true },
  },
  {
    names: ["LazyConv1d", "LazyConv2d", "LazyConv3d"],
    required: ["outChannels", "kernelSize"],
    defaults: { stride: 1, padding: 0, dilation: 1, groups: 1, bias: true, paddingMode: "zeros" },
  },
  {
    names: ["LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d"],
    required: ["outChannels", "kernelSize"],
    defaults: {
      stride: 1,
      padding: 0,
      outputPadding: 0,
      groups: 1,
      bias: true,
      dilation: 1,
      paddingMode: "zeros",
    },
  },
  { names: ["LazyLinear"], required: ["outFeatures"], defaults: { bias: true } },
  { names: ["LeakyReLU"], required: [], defaults: { negativeSlope: 0.01, inplace: false } },
  { names: ["Linear"], required: ["inFeatures", "outFeatures"], defaults: { bias: true } },
  {
    names: ["LinearCrossEntropyLoss"],
    required: ["inFeatures", "numClasses"],
    defaults: {
      outFeatures: [],
      bias: false,
      reduction: "mean",
      weight: null,
      ignoreIndex: null,
      labelSmoothing: 0,
    },
  },
  { names: ["LocalResponseNorm"], required: ["size"], defaults: { alpha: 0.0001, beta: 0.75, k: 1 } },
  {
    names: ["MaxPool1d", "MaxPool2d", "MaxPool3d"],
    required: ["kernelSize"],
    defaults: { stride: null, padding: 0, dilation: 1, returnIndices: false, ceilMode: false },
  },
  {
    names: ["MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"],
    required: ["kernelSize"],
    defaults: { stride: null, padding: 0 },
  },
  {
    names: ["MultiMarginLoss"],
    required: [],
    defaults: { p: 1, margin: 1, weight: null, reduction: "mean" },
  },
  {
    names: ["MultiheadAttention"],
    required: ["embedDim", "numHeads"],
    defaults: {
      dropout: 0,
      bias: true,
      addBiasKv: false,
      addZeroAttn: false,
      kdim: null,
      vdim: null,
      batchFirst: false,
    },
  },
  { names: ["NLLLoss"], required: [], defaults: { weight: null, ignoreIndex: -100, reduction: "mean" } },
  { names: ["PReLU"], required: [], defaults: { numParameters: 1, init: 0.25 } },
  { names: ["PairwiseDistance"], required: [], defaults: { p: 2, eps: 1e-6, keepdim: false } },
  {
    names: ["PoissonNLLLoss"],
    required: [],
    defaults: { logInput: true, full: false, eps: 1e-8, reduction: "mean" },
  },
  { names: ["RMSNorm"], required: ["normalizedShape"], defaults: { eps: null, elementwiseAffine: true } },
  {
    names: ["RNNCell"],
    required: ["inputSize", "hiddenSize"],
    defaults: { bias: true, nonlinearity: "tanh" },
  },
  { names: ["RReLU"], required: [], defaults: { lower: 0.125, upper: 1 / 3, inplace: false } },
  { names: ["SmoothL1Loss"], required: [], defaults: { reduction: "mean", beta: 1 } },
  { names: ["Softplus"], required: [], defaults: { beta: 1, threshold: 20 } },
  { names: ["Threshold"], required: ["threshold", "value"], defaults: { inplace: false } },
  {
    names: ["Transformer"],
    required: [],
    defaults: {
      dModel: 512,
      nhead: 8,
      numEncoderLayers: 6,
      numDecoderLayers: 6,
      dimFeedforward: 2048,
      dropout: 0.1,
      activation: "relu",
      customEncoder: null,
      customDecoder: null,
      layerNormEps: 1e-5,
      batchFirst: false,
      normFirst: false,
      bias: true,
    },
  },
  { names: ["TransformerDecoder"], required: ["decoderLayer", "numLayers"], defaults: { norm: null } },
  {
    names: ["TransformerDecoderLayer", "TransformerEncoderLayer"],
    required: ["dModel", "nhead"],
    defaults: {
      dimFeedforward: 2048,
      dropout: 0.1,
      activation: "relu",
      layerNormEps: 1e-5,
      batchFirst: false,
      normFirst: false,
      bias: true,
    },
  },
  {
    names: ["TransformerEncoder"],
    required: ["encoderLayer", "numLayers"],
    defaults: { norm: null, enableNestedTensor: true, maskCheck: true },
  },
  {
    names: ["TripletMarginLoss"],
    required: [],
    defaults: { margin: 1, p: 2, eps: 1e-6, swap: false, reduction: "mean" },
  },
  {
    names: ["TripletMarginWithDistanceLoss"],
    required: [],
    defaults: { distanceFunction: null, margin: 1, swap: false, reduction: "mean" },
  },
  { names: ["Unfold"], required: ["kernelSize"], defaults: { dilation: 1, padding: 0, stride: 1 } },
  {
    names: ["Upsample"],
    required: [],
    defaults: {
      size: null,
      scaleFactor: null,
      mode: "nearest",
      alignCorners: null,
      recomputeScaleFactor: null,
    },
  },
  {
    names: ["UpsamplingBilinear2d", "UpsamplingNearest2d"],
    required: [],
    defaults: { size: null, scaleFactor: null },
  },
];
