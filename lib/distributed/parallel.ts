/** Modules over several processes: the namespace `nn.parallel`, like `torch.nn.parallel`. */
export { type DataParallelOptions, DistributedDataParallel } from "./data_parallel.ts";
