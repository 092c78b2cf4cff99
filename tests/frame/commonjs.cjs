/** Functions of a CommonJS module, which find each other by its variables. */
exports.double = (x) => x.mul(2);
exports.offset = 3;
exports.calls = 0;
exports.step = (x) => {
  exports.calls++;
  return exports.double(x).add(module.exports.offset).add(require("node:path").basename("a/b").length);
};
exports.around = (x, look) => {
  const y = exports.double(x);
  look();
  return exports.double(y).add(__filename.endsWith(".cjs") ? exports.offset : 0);
};
