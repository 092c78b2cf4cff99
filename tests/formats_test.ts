/** Formatters of `Intl` run while tracing, on known values; results that depend on local time follow the time zone. */
import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { brokenFormats, formats } from "./programs/formats.ts";
import { runProgram } from "./support/process.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const FORCED = [3, 9, 16, 24];

register(brokenFormats, ["eager"], FORCED);
registerUnbroken(formats, ["eager"], FORCED);

const PROGRAM = `
import { compile, tensor } from ${JSON.stringify(import.meta.resolve("../mod.ts"))};
const hour = (x) => [x.mul(new Date(0).getHours()).item(), new Date(2020, 1, 2).getTime(),
  Date.parse("2020-02-02T00:00"), new Date(0).toLocaleTimeString("en"),
  new Intl.DateTimeFormat("en", { timeStyle: "short" }).format(0), new Date(0).toISOString()];
const compiled = compile(hour, { backend: "eager" });
const told = [];
for (const zone of ["Asia/Tokyo", "America/New_York", "Asia/Tokyo"]) {
  Deno.env.set("TZ", zone);
  const x = tensor([1]);
  told.push([compiled(x), hour(x)].map((each) => JSON.stringify(each)));
}
console.log(JSON.stringify(told));`;

Deno.test("local times follow the time zone chosen by the program", async () => {
  const config = fileURLToPath(import.meta.resolve("../deno.json"));
  const { code, stdout, stderr } = await runProgram(Deno.execPath(), [
    "eval",
    "--config",
    config,
    "--ext=js",
    PROGRAM,
  ], { env: { DYN_GRAPH_CACHE: "0" } });
  assertEquals(code, 0, stderr);
  const told: readonly (readonly [string, string])[] = JSON.parse(stdout);
  for (const [compiled, plain] of told) assertEquals(compiled, plain);
  assertEquals(new Set(told.map(([compiled]) => compiled)).size, 2);
});
