/** The zoo: all its models, in the order in which they are reported. */
import "../../mod.ts";
import type { Specimen } from "./specimen.ts";

// Imported after dyn, which prepares modules that are loaded behind it: hooks of models capture `this`
const { bert } = await import("./models/bert.ts");
const { conformer } = await import("./models/conformer.ts");
const { convnext } = await import("./models/convnext.ts");
const { detr } = await import("./models/detr.ts");
const { diffusion } = await import("./models/diffusion.ts");
const { dqn } = await import("./models/dqn.ts");
const { efficientnet } = await import("./models/efficientnet.ts");
const { gan } = await import("./models/gan.ts");
const { gemma } = await import("./models/gemma.ts");
const { glow } = await import("./models/glow.ts");
const { gpt2 } = await import("./models/gpt2.ts");
const { graphNetwork } = await import("./models/graph_network.ts");
const { gruClassifier, lstmTagger } = await import("./models/lstm_tagger.ts");
const { mamba } = await import("./models/mamba.ts");
const { maml } = await import("./models/maml.ts");
const { mixtral } = await import("./models/mixtral.ts");
const { mobilenet } = await import("./models/mobilenet.ts");
const { nerf } = await import("./models/nerf.ts");
const { resnet18, resnet50, resnext } = await import("./models/resnet.ts");
const { speech } = await import("./models/speech.ts");
const { swin } = await import("./models/swin.ts");
const { t5 } = await import("./models/t5.ts");
const { unet } = await import("./models/unet.ts");
const { vae } = await import("./models/vae.ts");
const { vit } = await import("./models/vit.ts");
const { vocoder } = await import("./models/vocoder.ts");
const { vqvae } = await import("./models/vqvae.ts");
const { worldModel } = await import("./models/world_model.ts");
const { xlstm } = await import("./models/xlstm.ts");

/** Every model. */
export const ZOO: readonly Specimen[] = [
  resnet18,
  resnet50,
  resnext,
  mobilenet,
  efficientnet,
  convnext,
  unet,
  vit,
  swin,
  bert,
  gpt2,
  t5,
  lstmTagger,
  gruClassifier,
  vae,
  gan,
  dqn,
  diffusion,
  graphNetwork,
  speech,
  conformer,
  mixtral,
  mamba,
  detr,
  nerf,
  vqvae,
  glow,
  maml,
  gemma,
  xlstm,
  vocoder,
  worldModel,
];
