/**
 * Stable sorting of one row, with positions, as a C++ translation unit for one element type. Output: the text that
 * exports `dyn_entry`, which gives the address of a `void(const SortCall*)`. Invariant: NaN is the greatest value,
 * equal values keep their order in both directions.
 */

/** The argument; 64-bit words. Also pasted into generated programs. */
export const SORT_CALL: string = String.raw`
// values and positions of 'source' in order; strides in elements
struct SortCall {
  const void* source;
  void* values;
  long* indices;
  long n, source_stride, value_stride, index_stride, descending;
};
`;

const MERGE_SORT: string = String.raw`
extern "C" void* malloc(unsigned long);
extern "C" void free(void*);
struct Item { T value; long index; };
// whether b must come before a, which stands in front of it
static inline bool before(const T b, const T a, bool descending) {
  if (b != b) return descending && a == a;
  if (a != a) return !descending;
  return descending ? b > a : b < a;
}
static void sort(const SortCall* call) {
  const SortCall& c = *call;
  const bool descending = c.descending != 0;
  const T* source = (const T*) c.source;
  Item* from = (Item*) malloc((unsigned long) (2 * c.n + 1) * sizeof(Item));
  Item* const memory = from;
  Item* to = from + c.n;
  for (long i = 0; i < c.n; i++) from[i] = {source[i * c.source_stride], i};
  for (long i = 0; i < c.n; i += 16) {   // short runs by insertion
    const long end = i + 16 < c.n ? i + 16 : c.n;
    for (long j = i + 1; j < end; j++) {
      const Item x = from[j];
      long k = j;
      for (; k > i && before(x.value, from[k - 1].value, descending); k--) from[k] = from[k - 1];
      from[k] = x;
    }
  }
  for (long width = 16; width < c.n; width *= 2) {
    for (long i = 0; i < c.n; i += 2 * width) {
      const long middle = i + width < c.n ? i + width : c.n, end = i + 2 * width < c.n ? i + 2 * width : c.n;
      long a = i, b = middle;
      for (long k = i; k < end; k++)
        to[k] = a < middle && (b >= end || !before(from[b].value, from[a].value, descending)) ? from[a++] : from[b++];
    }
    Item* const other = from;
    from = to;
    to = other;
  }
  for (long i = 0; i < c.n; i++) {
    ((T*) c.values)[i * c.value_stride] = from[i].value;
    c.indices[i * c.index_stride] = from[i].index;
  }
  free(memory);
}
extern "C" __attribute__((visibility("default"))) void (*dyn_entry())(const SortCall*) { return sort; }
`;

/** The translation unit of sorting over one element type, as C++ names it. */
export function sortSource(type: string): string {
  return `typedef ${type} T;\n${SORT_CALL}${MERGE_SORT}`;
}
