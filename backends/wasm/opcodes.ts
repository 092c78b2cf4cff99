/**
 * The instructions that are used here, by their binary codes.
 * Format: WebAssembly core specification 2.0, with the relaxed SIMD proposal.
 */

/** Types of values. */
export const TYPE = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;
export type WasmType = keyof typeof TYPE;

/** Plain instructions that take or return a 64-bit integer where their i32 forms take or return 32 bits. */
export type IntegerType = "i32" | "i64";

/** Plain instructions: names with consecutive codes after the first one. */
const PLAIN = [
  "0x04 if else 0x0b end branch branchIf 0x10 call 0x1b select 0x28 i32Load i64Load f32Load f64Load",
  "i32Load8S i32Load8U i32Load16S i32Load16U 0x36 i32Store i64Store f32Store f64Store i32Store8",
  "i32Store16 0x45 i32Eqz i32Eq i32Ne i32LtS i32LtU i32GtS 0x4e i32GeS 0x50 i64Eqz i64Eq i64Ne i64LtS",
  "i64LtU i64GtS 0x57 i64LeS 0x59 i64GeS 0x5c f32Ne 0x62 f64Ne f64Lt 0x67 i32Clz 0x6a i32Add i32Sub",
  "i32Mul i32DivS 0x6f i32RemS 0x71 i32And i32Or i32Xor i32Shl i32ShrS i32ShrU 0x7c i64Add i64Sub",
  "i64Mul i64DivS 0x81 i64RemS 0x83 i64And 0x85 i64Xor i64Shl i64ShrS i64ShrU 0x92 f32Add 0x99 f64Abs",
  "0xa0 f64Add 0xa7 i32WrapI64 0xac i64ExtendI32S i64ExtendI32U 0xb4 f32ConvertI64S",
] as const;

/** Instructions after the prefix 0xfd, likewise. */
const VECTOR = [
  "0x00 load 0x09 load32Splat load64Splat store constant shuffle 0x11 i32Splat i64Splat f32Splat",
  "f64Splat 0x1b i32Extract i32Replace i64Extract i64Replace f32Extract f32Replace f64Extract",
  "f64Replace 0x37 i32Eq i32Ne i32LtS i32LtU i32GtS 0x3d i32LeS 0x3f i32GeS 0x41 f32Eq f32Ne f32Lt",
  "f32Gt f32Le f32Ge f64Eq f64Ne f64Lt f64Gt f64Le f64Ge not and andNot or xor bitselect anyTrue",
  "0x56 load32Lane load64Lane 0x5a store32Lane store64Lane load32Zero load64Zero f32DemoteZero",
  "f64PromoteLow 0x67 f32Ceil f32Floor f32Trunc f32Nearest 0x74 f64Ceil f64Floor 0x7a f64Trunc",
  "0x87 i16ExtendLowS8 0x89 i16ExtendLowU8 0x94 f64Nearest 0xa0 i32Abs i32Neg 0xa3 i32AllTrue",
  "0xa7 i32ExtendLowS16 0xa9 i32ExtendLowU16 0xab i32Shl i32ShrS i32ShrU i32Add 0xb1 i32Sub",
  "0xb5 i32Mul i32MinS 0xb8 i32MaxS 0xc0 i64Abs i64Neg 0xc3 i64AllTrue 0xc7 i64ExtendLowS",
  "i64ExtendHighS 0xcb i64Shl i64ShrS i64ShrU i64Add 0xd1 i64Sub 0xd5 i64Mul i64Eq i64Ne i64LtS",
  "i64GtS i64LeS i64GeS 0xde i64MulLowU32 i64MulHighU32 f32Abs f32Neg 0xe3 f32Sqrt f32Add f32Sub",
  "f32Mul f32Div 0xea f32PMin f32PMax f64Abs f64Neg 0xef f64Sqrt f64Add f64Sub f64Mul f64Div",
  "0xf6 f64PMin f64PMax i32TruncF32 0xfa f32ConvertI32 0xfc i32TruncF64Zero 0xfe f64ConvertLowI32",
  "0x105 f32Madd 0x107 f64Madd 0x10b i32LaneSelect i64LaneSelect",
] as const;

/** The names in a text. */
type NamesIn<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? Exclude<First, `0x${string}`> | NamesIn<Rest>
  : Text;

/** A plain instruction. */
export type Op = NamesIn<typeof PLAIN[number]>;

/** An instruction after the prefix 0xfd. */
export type Simd = NamesIn<typeof VECTOR[number]>;

/** The code of the conversion after the prefix 0xfc. */
export const TRUNCATE = 0x06;

/** Returns the code of a plain instruction. */
export const codeOf: (name: Op) => number = codesIn(PLAIN);

/** Returns the code of an instruction after the prefix 0xfd. */
export const simdCodeOf: (name: Simd) => number = codesIn(VECTOR);

function codesIn(texts: readonly string[]): (name: string) => number {
  const codes = new Map<string, number>();
  let next = 0;
  for (const word of texts.flatMap((text) => text.split(" "))) {
    if (word.startsWith("0x")) next = Number(word);
    else codes.set(word, next++);
  }
  return (name) => codes.get(name) ?? 0;
}
