/**
 * Event files: their bytes against those of TensorBoard's own writers (tensorboard 2.20 and torch.utils.tensorboard of
 * PyTorch 2.15, for the same values), that they can be read back, and the page of `dyn watch`.
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runName } from "../cli/watch_runs.ts";
import { nn, ones, tensor, Writer } from "../mod.ts";
import { Fields } from "../lib/base/protobuf.ts";
import { decodeEvent, encodeEvent, type SummaryEvent } from "../lib/debug/summary/events.ts";
import { EventFollower } from "../lib/debug/summary/follow.ts";
import { histogramOf } from "../lib/debug/summary/histogram.ts";
import { crc32c, readRecords, tfRecord } from "../lib/debug/summary/wire.ts";
import { SKIP_BROWSER, withPage } from "./support/browser.ts";
import { withFolder } from "./support/process.ts";

const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));

Deno.test("checksums are those of RFC 3720, appendix B.4", () => {
  const bytes = (of: (at: number) => number) => Uint8Array.from({ length: 32 }, (_, at) => of(at));
  const found = [() => 0, () => 255, (at: number) => at, (at: number) => 31 - at].map((of) =>
    crc32c(bytes(of))
  );
  assertEquals(found, [0x8a9136aa, 0x62a8ab43, 0x46dd794e, 0x113fdb5c]);
});

Deno.test("records of scalars, texts and histograms are byte for byte TensorBoard's", () => {
  const histogram = { min: 7, max: 7, count: 1, sum: 7, sumOfSquares: 49, limits: [5, 10], counts: [0, 1] };
  const events: [SummaryEvent, string][] = [
    [
      { time: 1.5, step: 300, tag: "loss", value: { kind: "scalar", value: 0.5 } },
      "1b000000000000001a0d9e1309000000000000f83f10ac022a0d0a0b0a046c6f7373150000003f69f9315b",
    ],
    [
      { time: 1.5, step: 3, tag: "note", value: { kind: "text", text: "hé" } },
      "3b000000000000001a23ac5c09000000000000f83f10032a2e0a2c0a116e6f74652f746578745f73756d6d617279420d080712041202080142" +
      "0368c3a94a080a060a0474657874fc1099d4",
    ],
    [
      { time: 1.5, step: 2, tag: "h", value: { kind: "histogram", histogram } },
      "6500000000000000ebd05a6909000000000000f83f10022a580a560a01682a51090000000000001c40110000000000001c4019000000000000" +
      "f03f210000000000001c402900000000008048403210000000000000144000000000000024403a100000000000000000000000000000f03f" +
      "53793e1a",
    ],
  ];
  for (const [event, expected] of events) {
    const record = tfRecord(encodeEvent(event));
    assertEquals(record.toHex(), expected, event.tag);
    assertEquals(readRecords(record).records.flatMap(decodeEvent), [event]);
  }
});

Deno.test("events that a full disk rejects are kept, and written once there is space", async () => {
  await withFolder(async (folder) => {
    const writer = new Writer(folder), { writeSync } = Deno.FsFile.prototype;
    for (let step = 0; step < 50; step++) writer.addScalar("loss", step, step);
    // A device that takes a part of what it is given, then nothing
    let room = 1000;
    Deno.FsFile.prototype.writeSync = function (bytes) {
      const taken = Math.min(room, bytes.length);
      if (taken === 0) throw new Error("No space left on device");
      room -= taken;
      return writeSync.call(this, bytes.subarray(0, taken));
    };
    try {
      assertThrows(() => writer.flush(), Error, "No space left");
      writer.addScalar("loss", 50, 50);
      assertThrows(() => writer.flush(), Error, "No space left");
    } finally {
      Deno.FsFile.prototype.writeSync = writeSync;
    }
    writer.close();
    const events = readRecords(await Deno.readFile(writer.path)).records.flatMap(decodeEvent);
    const steps = events.flatMap(({ step, tag }) => tag === "loss" ? [step] : []);
    assertEquals(steps, Array.from({ length: 51 }, (_, step) => step));
  });
});

Deno.test("histograms have torch's buckets", () => {
  const found = (values: number[]) => {
    const { limits, counts, min, max, count, sum, sumOfSquares } = histogramOf(values);
    const filled = counts.flatMap((n, at) => n > 0 ? [[at, n]] : []);
    return [
      counts.length,
      limits.length,
      limits[0],
      limits.at(-1),
      filled,
      min,
      max,
      count,
      sum,
      sumOfSquares,
    ];
  };
  assertEquals(found([0.5, 2, 2, 3]), [
    21,
    21,
    0.47069243095356195,
    3.1665833053880363,
    [[1, 1], [16, 2], [20, 1]],
    0.5,
    3,
    4,
    7.5,
    17.25,
  ]);
  assertEquals(found([-1, 0, 0.5, 2, 2, 3]), [
    595,
    595,
    -1.0089710279437536,
    3.1665833053880363,
    [[1, 1], [292, 1], [575, 1], [590, 2], [594, 1]],
    -1,
    3,
    6,
    6.5,
    18.25,
  ]);
  assertEquals(found([7]), [2, 2, 6.7878525393626115, 7.466637793298873, [[1, 1]], 7, 7, 1, 7, 49]);
  assertEquals(found([0, 0]), [2, 2, 0, 1e-12, [[1, 2]], 0, 0, 2, 0, 0]);
  assertThrows(() => histogramOf([]), Error, "Expected numbers for a histogram but found none");
  assertThrows(() => histogramOf([1, NaN]), Error, "Expected finite numbers for a histogram but found NaN");
});

Deno.test("damaged and incomplete records end reading", () => {
  const one = tfRecord(Uint8Array.of(1, 2, 3)), two = tfRecord(Uint8Array.of(4));
  const both = new Uint8Array([...one, ...two]);
  assertEquals(readRecords(both).records.length, 2);
  const cut = readRecords(both.subarray(0, both.length - 1));
  assertEquals([cut.records.length, cut.read, cut.damaged], [1, one.length, false]);
  for (const at of [0, 9, 13, one.length - 1]) {
    const wrong = both.with(at, (both[at] ?? 0) ^ 1);
    assertEquals([readRecords(wrong).records.length, readRecords(wrong).damaged], [0, true], `byte ${at}`);
  }
});

Deno.test("hyperparameters and metrics are a separate run, as TensorBoard's plugin reads them", async () => {
  await withFolder(async (folder) => {
    const writer = new Writer(folder);
    writer.addHparams(
      { lr: 0.5, name: "adam", amsgrad: true, width: tensor(8) },
      { "hparam/loss": 0.25 },
      "a",
    );
    assertThrows(
      () => writer.addHparams({ lr: Object([1]) }, {}),
      Error,
      "a number, a string or a boolean as the hyperparameter lr but found [ 1 ]",
    );
    writer.close();
    const [file] = [...Deno.readDirSync(join(folder, "a"))];
    const { records } = readRecords(await Deno.readFile(join(folder, "a", file?.name ?? "")));
    assertEquals(records.flatMap(decodeEvent).map(({ tag, value }) => [tag, value]), [
      ["hparam/loss", { kind: "scalar", value: 0.25 }],
    ]);
    const values = records.flatMap((record) => new Fields(record).message(5)?.messages(1) ?? []).slice(0, 3);
    const contents = values.map((value) => {
      const plugin = value.message(9)?.message(1);
      assertEquals(plugin?.text(1), "hparams");
      return new Fields(plugin?.bytes(2) ?? new Uint8Array());
    });
    assertEquals(values.map((value) => value.text(1)), [
      "_hparams_/experiment",
      "_hparams_/session_start_info",
      "_hparams_/session_end_info",
    ]);
    const [experiment, start, end] = [2, 3, 4].map((field, k) => contents[k]?.message(field));
    assertEquals(experiment?.messages(4).map((info) => [info.text(1), info.number(4)]), [
      ["lr", 3],
      ["name", 1],
      ["amsgrad", 2],
      ["width", 3],
    ]);
    assertEquals(experiment?.messages(5).map((metric) => metric.message(1)?.text(2)), ["hparam/loss"]);
    const found = start?.messages(1).map((entry) => [entry.text(1), entry.message(2)] as const) ?? [];
    assertEquals(found.map(([name, value]) => [name, value?.number(2), value?.text(3), value?.number(4)]), [
      ["lr", 0.5, "", 0],
      ["name", 0, "adam", 0],
      ["amsgrad", 0, "", 1],
      ["width", 8, "", 0],
    ]);
    assertEquals(end?.number(1), 1);
  });
});

Deno.test("a writer's values come back in order, with automatic steps if none are given", async () => {
  await withFolder(async (folder) => {
    const writer = new Writer(join(folder, "run"));
    assertMatch(writer.path, /run.events\.out\.tfevents\.\d+\./);
    writer.addScalar("loss", 2);
    writer.addScalar("loss", tensor([0.5]));
    writer.addScalar("loss", 1, 10);
    writer.addScalars("both", { a: 1, b: 2 }, 3);
    writer.addText("note", "x");
    writer.addHistogram("h", tensor([1, 2, 2]), 4);
    writer.addImage("image", tensor([[[0, 0.5], [1, 2]]]), 5);
    const layer = new nn.Linear(2, 1);
    layer.call(ones([1, 2])).sum().backward();
    writer.addParameters(layer, 6);
    assertThrows(
      () => writer.addScalar("loss", 1, 1.5),
      Error,
      "Expected an integer as a step but found 1.5",
    );
    assertThrows(
      () => writer.addImage("image", ones([2, 3, 3])),
      Error,
      "Expected an image CHW of 1, 3 or 4 channels but found shape [2, 3, 3]",
    );
    writer.close();
    assertThrows(() => writer.addScalar("loss", 1), Error, "Expected an open writer");
    using named = new Writer({ logDir: join(folder, "named"), filenameSuffix: ".x" });
    assertMatch(named.path, /named.events\.out\.tfevents\..*\.x$/);
    const misspelt: object = { log_dir: "x" };
    assertThrows(() => new Writer(misspelt), Error, "but found log_dir; write logDir");
    const events = readRecords(await Deno.readFile(writer.path)).records.flatMap(decodeEvent);
    const told = events.map(({ tag, step, value }) =>
      `${tag} ${step} ${value.kind === "scalar" ? value.value : value.kind}`
    );
    assertEquals(told, [
      "loss 0 2",
      "loss 1 0.5",
      "loss 10 1",
      "both/a 3 1",
      "both/b 3 2",
      "note 0 text",
      "h 4 histogram",
      "image 5 image",
      "weights/weight 6 histogram",
      "gradients/weight 6 histogram",
      "weights/bias 6 histogram",
      "gradients/bias 6 histogram",
    ]);
  });
});

Deno.test("files are followed as they grow, and what is kept is bounded", async () => {
  await withFolder((folder) => {
    const writer = new Writer(folder), said: string[] = [];
    const follower = new EventFollower((text) => said.push(text));
    follower.add(writer.path, "run");
    assertEquals(follower.look(), []);
    const odd = new Map([[77, NaN], [5555, 1e6], [6666, -Infinity], [7777, -50]]);
    for (let step = 0; step < 9000; step++) writer.addScalar("loss", odd.get(step) ?? step, step);
    writer.flush();
    const [fresh] = follower.look();
    assertEquals([fresh?.run, fresh?.tag, fresh?.kind], ["run", "loss", "scalar"]);
    assert(fresh && fresh.values.length <= 4000 && fresh.values.length > 1900);
    assertEquals([fresh.values[0]?.[2], fresh.values.at(-1)?.[0], fresh.all], [0, 8999, true]);
    // As JSON, which has no NaN
    assertEquals(
      fresh.values.filter(([step]) => odd.has(step)).map(([step, , value]) => [step, value]),
      [[77, "NaN"], [5555, 1e6], [6666, "-Infinity"], [7777, -50]],
    );
    writer.addScalar("loss", 1, 9000);
    writer.close();
    assertEquals(follower.look().map(({ values }) => values.map(([step, , value]) => [step, value])), [[[
      9000,
      1,
    ]]]);
    assertEquals(follower.all.length, 1);
    const { size } = Deno.statSync(writer.path);
    Deno.writeFileSync(writer.path, new Uint8Array(20), { append: true });
    assertEquals([follower.look(), follower.look(), said], [[], [], [
      `${writer.path} is damaged after byte ${size}: the rest is not shown`,
    ]]);
    Deno.removeSync(writer.path);
    assertEquals([follower.look(), follower.all.length], [[], 1]);
    return Promise.resolve();
  });
});

Deno.test("runs are named by their folders as seen from the watched one, so that none is taken for another", () => {
  const names = ["one/train/e", "two/train/e", "e", "../other/e"].map((path) =>
    runName("/a/runs", `/a/runs/${path}`)
  );
  assertEquals(names, ["one/train", "two/train", "runs", "/a/other"]);
});

/** The first line of what a server answers to somebody who knows it by another name. */
async function statusFor(host: string, port: number): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(`GET / HTTP/1.1\r\nhost: ${host}:${port}\r\n\r\n`));
  const bytes = new Uint8Array(64), read = await connection.read(bytes);
  return new TextDecoder().decode(bytes.subarray(0, read ?? 0));
}

Deno.test("dyn watch shows a run in progress", { ignore: SKIP_BROWSER }, async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(
      join(folder, "train.ts"),
      `
      import { tensor, Writer } from ${JSON.stringify(new URL("../mod.ts", import.meta.url).href)};
      const writer = new Writer("logs");
      for (let step = 0; step < 40; step++) {
        writer.addScalar("loss", 1 / (step + 1), step);
        await new Promise((done) => setTimeout(done, 2));
      }
      writer.addScalar("<b>other", Deno.args.length, 0);
      [2, NaN].forEach((value, step) => writer.addScalar("broken", value, step));
      writer.addHistogram("weights/w", [1, 2, 2, 3], 0);
      writer.addHistogram("weights/one", [2], 0);
      writer.addImage("picture", tensor([[[0]]]), 0);
      writer.addImage("picture", tensor([[[0, 1], [1, 0]]]), 1);
      writer.addText("note", "<img src=x onerror='ran = true'>", 0);
      Deno.exitCode = 3;`,
    );
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", CLI, "watch", "train.ts", "argument"],
      cwd: folder,
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const log = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
    let told = "";
    const until = async (wanted: RegExp): Promise<string> => {
      for (;;) {
        const [, found] = wanted.exec(told) ?? [];
        if (found !== undefined) return found;
        const { value, done } = await log.read();
        if (done) throw new Error(`Expected ${wanted} but found ${told}`);
        told += value;
      }
    };
    try {
      const address = await until(/\[watch\] (http:\S+)/);
      await withPage(address, async (page) => {
        await page.until("document.querySelectorAll('[data-tag]').length >= 7");
        assertEquals(
          await page.evaluate("[...document.querySelectorAll('[data-tag]')].map((each) => each.dataset.tag)"),
          [
            "loss",
            "<b>other",
            "broken",
            "picture",
            "weights/w",
            "weights/one",
            "note",
          ],
        );
        assertEquals(
          await page.evaluate("document.querySelector('[data-tag=\"loss\"] h2').innerText"),
          "loss 0.025",
        );
        assertEquals(
          await page.evaluate("document.querySelector('[data-tag=\"broken\"] h2').innerText"),
          "broken NaN",
        );
        assertMatch(
          String(await page.evaluate("document.querySelector('[data-tag=\"loss\"] path').getAttribute('d')")),
          /^(M[\d. ]+)(L[\d. ]+){39}$/,
        );
        // Pictures are decoded aside
        await page.until("document.querySelector('img.pixels').naturalWidth === 2");
        assertEquals(await page.evaluate("document.querySelectorAll('#throughput + .cards svg').length"), 1);
        assertEquals(
          await page.evaluate("document.querySelectorAll('[data-tag=\"weights/w\"] rect').length"),
          30,
        );
        assertEquals(
          await page.evaluate(
            "document.querySelector('[data-tag=\"weights/one\"] rect').height.baseVal.value",
          ),
          100,
        );
        await page.until("document.querySelector('.chip').innerText === 'ended with code 3'");
        assertEquals(
          await page.evaluate(`(() => {
            const card = document.querySelector("[data-tag=picture]"), slider = card.querySelector("input");
            slider.value = 0;
            slider.dispatchEvent(new Event("input"));
            document.querySelector("[type=search]").dispatchEvent(new Event("input"));
            return document.querySelector("[data-tag=picture] span").innerText;
          })()`),
          "logs step 0",
        );
        assertEquals(await page.evaluate("[typeof ran, document.images.length]"), ["undefined", 1]);
        assertEquals(page.errors, []);
      });
      assertMatch(await statusFor("example.org", Number(new URL(address).port)), /^HTTP\/1\.1 403 /);
    } finally {
      child.kill("SIGINT");
      await log.cancel();
      await child.status;
    }
  });
});
