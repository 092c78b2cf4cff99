/** Higher-order functions and printing inside graphs, like `torch._higher_order_ops`. */
export * from "./tensor/higher_order.ts";
export { print, type Printable } from "./autograd/print_op.ts";
