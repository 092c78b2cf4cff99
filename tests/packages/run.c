/* Runs the package of model.ts: weights, numbers of the first call and of the second one; prints scores and classes. */
#include "dyn_reader.h"
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **args) {
  if (count < 3) return 64;
  dyn_reader_model *model = dyn_reader_open(args[1]);
  FILE *file = fopen(args[2], "r");
  int n;
  if (!model || !file) return 65;
  while (fscanf(file, "%d", &n) == 1) {
    int64_t *words = malloc(n * sizeof *words), sizes[] = {n, n, 16};
    float *x = malloc(n * 16 * sizeof *x);
    for (int k = 0; k < n; k++) words[k] = k;
    for (int k = 0; k < n * 16; k++) if (fscanf(file, "%f", x + k) != 1) return 66;
    void *inputs[] = {words, x}, *results[3];
    for (int k = 0; k < 3; k++) results[k] = malloc(dyn_reader_result_bytes(k, sizes));
    if (dyn_reader_call(model, inputs, results, sizes, 1) != 0) return 67;
    for (int k = 0; k < n * 3; k++) printf("%.9g ", ((float *) results[0])[k]);
    for (int k = 0; k < n; k++) printf("%lld ", (long long) ((int64_t *) results[2])[k]);
    for (int k = 0; k < 3; k++) free(results[k]);
    free(words);
    free(x);
    printf("\n");
  }
  fclose(file);
  dyn_reader_close(model);
  return 0;
}
