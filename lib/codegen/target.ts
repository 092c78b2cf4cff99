/**
 * What a device can run, as far as code generation asks: passes read it, and nothing outside a device's own folder asks
 * which device it has. Each tier of a device gives one.
 */
import type { DType } from "../base/dtype.ts";
import type { ExternKernel } from "../loops/ir.ts";

/** How a library call is run: by the library, or not at all ("none"), whereupon it becomes loops. */
export type CallSupport = LibraryCall | "none";

/** What the library runs of a call. */
export interface LibraryCall {
  /** Whether operands are computed where they are needed; otherwise by kernels of their own. */
  readonly prologues: boolean;
  /** Whether the epilogue runs on parts as they are finished; otherwise it is a kernel of its own. */
  readonly epilogue: boolean;
}

/** A call without anything around it. */
export const ALONE: LibraryCall = { prologues: false, epilogue: false };

/** Products of matrices in tiles. */
export interface Tiles {
  readonly rows: number;
  readonly columns: number;
  /** Tiles that fill a large device, which may share the depth of a product where it has fewer. */
  readonly busy: number;
  /** The least depth that is worth a tile. */
  readonly depth: number;
  /** Depths of parts are multiples of this. */
  readonly step: number;
}

/** Sizes of products whose first operands are made, as far as they are known. */
export interface MadeSizes {
  /** Elements of an operand, of all matrices, and whether those behind a diagonal are zero. */
  readonly elements: number;
  readonly causal: boolean;
  /** Of the results. */
  readonly columns: readonly number[];
  /** Products that elements are made of. */
  readonly products: number;
}

/** What keeps a grid busy. */
export interface Grid {
  /** Workgroups that fill it several times over. */
  readonly groups: number;
  /** Elements of a reduction that are worth a workgroup. */
  readonly elements: number;
  /** Invocations of a workgroup. */
  readonly invocations: number;
  /** Shorter loops are done by one invocation each: windows of pooling, small rows. */
  readonly shared: number;
  /** Fewer rows than `few`, of at least `long` elements, are a kernel for each of their loops. */
  readonly rows: { readonly few: number; readonly long: number };
  /** Whether buffers start where four elements may be read and written as a vector. */
  readonly vectors: boolean;
  /**
   * How many rows of attention are made together by a kernel whose scores are not in memory; undefined where there is
   * none for values of so many features.
   */
  readonly attention: (features: number) => number | undefined;
  /**
   * How many rows of products are made together by a kernel that makes an operand of each on the way; undefined where there
   * is none for the sizes, or operands are better in memory.
   */
  readonly made: (sizes: MadeSizes) => number | undefined;
  /** Whether so many elements that were made for one kernel are written down where a further product needs them. */
  readonly keeps: (elements: number) => boolean;
  /** Bytes of temporaries up to which such elements are written down. */
  readonly temporaries: number;
  /**
   * How filters are laid out anew for a convolution: by taps, channels of results side by side, or transformed, each place
   * of a transform so. Undefined where they are read as they lie. Gradients of filters are made of transforms or are not.
   */
  readonly filters: (convolution: ExternKernel) => "taps" | "transformed" | undefined;
  /** The tiles that make a product. */
  readonly tiles: (product: ExternKernel) => Tiles;
}

/** What a team of threads shares out of a nest: its outermost loop, or several parallel loops as one. */
export type ThreadSharing = "outermost" | "nest";

/** Facts about one way to run programs. */
export interface Target {
  /** For messages and dumps: "native". */
  readonly name: string;
  /** How a library call over operands of these types is run. */
  supports(kernel: ExternKernel, dtypes: ReadonlySet<DType>): CallSupport;
  /**
   * Whether loops run in SIMD lanes along one loop of a nest. Then long sums are cut in blocks, so that all such targets
   * add in one order.
   */
  readonly lanes: boolean;
  /** Whether vector loops are to be straight runs of statements, because the target's compiler has to vectorise them. */
  readonly runs: boolean;
  /** How threads share out loops; "none" where there are none, and reductions of everything are not cut for them. */
  readonly threads: ThreadSharing | "none";
  /** The grid of workgroups that loops are mapped to, which few results of long reductions would leave idle. */
  readonly grid: Grid | null;
  /**
   * Bytes that a thread may have for what products that are finished row by row hand on; 0: the library's products cannot
   * be called on blocks of rows.
   */
  readonly blockBytes: number;
  /**
   * Up to how many rows a product reads its second operand where it lies, if the rows of that lie side by side: otherwise
   * such products are much slower. 0: there is no such difference.
   */
  readonly rowsInPlace: number;
  /** How many buffers one kernel may touch. */
  readonly kernelBuffers: number;
  /** Whether neighbouring kernels that do the same with other buffers run as one function over a table of these. */
  readonly tables: boolean;
  /** Bits of the widest integers that it computes with: where 32, int64 keeps its low ones. */
  readonly integers: 32 | 64;
  /** Every size of a call is below this. */
  readonly sizeLimit: number;
  /** Most statements that the loops inside a vector loop may be unrolled to; 0: they stay loops. */
  readonly unrolls: number;
}
