/** WebGPU, with one import of dyn for all of these files. */
import "../support/eager_tier.ts";
import "../webgpu_test.ts";
import "../webgpu_attention_test.ts";
import "../webgpu_attention_gradients_test.ts";
import "../webgpu_late_sizes_test.ts";
import "../webgpu_math_test.ts";
import "../webgpu_models_test.ts";
import "../webgpu_patches_test.ts";
import "../webgpu_rows_test.ts";
import "../webgpu_size_idioms_test.ts";
import "../webgpu_pipelines_test.ts";
import "../webgpu_transaction_test.ts";
import "../webgpu_tiles_test.ts";
import "../webgpu_kept_forms_test.ts";
import "../device_parts_test.ts";
import "../device_test.ts";
import "../zoo_webgpu_test.ts";
