/** Datasets, samplers and loaders: the namespace `data`. */
export {
  ChainDataset,
  ConcatDataset,
  Dataset,
  type Indexed,
  IterableDataset,
  randomSplit,
  StackDataset,
  type Stacked,
  Subset,
  TensorDataset,
} from "./dataset.ts";
export * from "./samplers.ts";
export { DistributedSampler, type DistributedSamplerOptions } from "./distributed_sampler.ts";
export { type Collated, defaultCollate, defaultConvert } from "./collate.ts";
export { fromModule } from "./from_module.ts";
export { getWorkerInfo, type WorkerInfo } from "./worker_info.ts";
export { DataLoader, type LoaderOptions, type Samples } from "./loader.ts";
export { type ImageMode, readImage } from "./readers/image.ts";
export { readNpy, writeNpy } from "./readers/npy.ts";
export { type CsvOptions, readCsv, readJsonLines, Table } from "./readers/table.ts";
export { cifar10, cifar100, mnist, type PartOptions, readIdx } from "./readers/digits.ts";
export { type BatchOptions, type EncodeOptions, readTokenizer, Tokenizer } from "./readers/tokenizer.ts";
export type { Source } from "./readers/source.ts";
/** Transforms of images, like `torchvision.transforms.v2`. */
export * as transforms from "./transforms.ts";
