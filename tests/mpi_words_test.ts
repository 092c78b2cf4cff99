/** The output of an MPI library's compiler wrapper, as options for our compiler. */
import { assertEquals } from "@std/assert";
import { wordsOf } from "../backends/mpi/library.ts";

const BEFORE = Deno.build.os === "darwin" ? [] : ["-Wl,--no-as-needed"];

Deno.test("search paths at run time are options of one word or two, and macros choose the ABI", () => {
  assertEquals(
    wordsOf("cc -DMPI_ABI -I/m/include -L/m/lib -Wl,-rpath -Wl,/m/lib -Wl,--enable-new-dtags -lmpi_abi"),
    [...BEFORE, "-DMPI_ABI", "-I/m/include", "-L/m/lib", "-lmpi_abi", "-Wl,-rpath,/m/lib"],
  );
  assertEquals(
    wordsOf("gcc -I/m/include -pthread -L/m/lib -Wl,-rpath,/m/lib -lmpi\n"),
    [...BEFORE, "-I/m/include", "-pthread", "-L/m/lib", "-Wl,-rpath,/m/lib", "-lmpi", "-Wl,-rpath,/m/lib"],
  );
});
