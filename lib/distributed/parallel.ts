/** Modules over several processes: the namespace `nn.parallel`, as `torch.nn.parallel`. */
export { type DataParallelOptions, DistributedDataParallel } from "./data_parallel.ts";
