// Reads specifications of Vega-Lite by name from standard input, and writes the problems of each: those that the
// JSON schema finds, and the warnings of the compiler. The argument is the folder of node_modules.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const load = createRequire(join(process.argv[2], "index.js"));
const { Ajv } = load("ajv");
const formats = load("ajv-formats");
const vegaLite = await import(join(process.argv[2], "node_modules/vega-lite/build/vega-lite.js")).then((m) => m.default ?? m, () => load("vega-lite"));
const ajv = new Ajv({ strict: false, allErrors: true });
formats(ajv);
ajv.addFormat("color-hex", () => true);
const validate = ajv.compile(JSON.parse(readFileSync(join(process.argv[2], "node_modules/vega-lite/build/vega-lite-schema.json"))));
const problems = {};
for (const [name, spec] of Object.entries(JSON.parse(readFileSync(0)))) {
  const list = validate(spec) ? [] : validate.errors.slice(0, 3).map((e) => e.instancePath + " " + e.message);
  const note = (...text) => list.push(text.join(" "));
  try {
    vegaLite.compile(spec, { logger: { warn: note, error: note, info() {}, debug() {}, level() { return this; } } });
  } catch (error) {
    note(error.message);
  }
  if (list.length) problems[name] = list.join("; ");
}
console.log(JSON.stringify(problems));
