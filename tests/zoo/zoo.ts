/** The zoo: all its models, in the order in which they are reported. */
import { bert } from "./models/bert.ts";
import { convnext } from "./models/convnext.ts";
import { diffusion } from "./models/diffusion.ts";
import { dqn } from "./models/dqn.ts";
import { efficientnet } from "./models/efficientnet.ts";
import { gan } from "./models/gan.ts";
import { gpt2 } from "./models/gpt2.ts";
import { graphNetwork } from "./models/graph_network.ts";
import { gruClassifier, lstmTagger } from "./models/lstm_tagger.ts";
import { mobilenet } from "./models/mobilenet.ts";
import { resnet18, resnet50, resnext } from "./models/resnet.ts";
import { speech } from "./models/speech.ts";
import { swin } from "./models/swin.ts";
import { t5 } from "./models/t5.ts";
import { unet } from "./models/unet.ts";
import { vae } from "./models/vae.ts";
import { vit } from "./models/vit.ts";
import type { Specimen } from "./specimen.ts";

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
];
