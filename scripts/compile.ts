// `deno task compile`: makes dist/gns3-copilot. Bundling first halves the memory it needs and the time it takes to start.
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const BUILD = "dist/build";
const OUTPUT = "dist/gns3-copilot";

/** Text imports and Worker permissions are behind these flags in older versions of Deno; newer ones take them too. */
const UNSTABLE = ["--unstable-raw-imports", "--unstable-worker-options"];

/** A request's signal is to abort only when the client has gone. In 2.6 this flag would keep it from aborting at all. */
const ABORT = Number(Deno.version.deno.split(".")[1]) >= 9 ? ["--unstable-no-legacy-abort"] : [];

/** Runs this Deno; ends the program, with advice where there is some, when that fails. */
async function deno(
  args: string[],
  advise: (said: string) => string | undefined = () => undefined,
): Promise<void> {
  const command = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stdout: "inherit", stderr: "piped" });
  const { success, stderr } = await command.output();
  const said = new TextDecoder().decode(stderr);
  if (success) return;
  console.error(said.trimEnd());
  console.error(advise(said) ?? `\`deno ${args[0]}\` failed.`);
  Deno.exit(1);
}

/** What helps when `deno compile` could not get the runtime that it puts into the executable. */
function denortAdvice(said: string): string | undefined {
  const { deno: version } = Deno.version;
  if (Deno.env.get("DENORT_BIN")) {
    return `deno compile failed with DENORT_BIN=${
      Deno.env.get("DENORT_BIN")
    }. The runtime there must be of the same ` +
      `minor version as this Deno (${version}); unset DENORT_BIN to let Deno download its own.`;
  }
  if (!/denort/.test(said)) return undefined;
  return `Deno ${version} could not download denort, the runtime that it puts into the executable: this machine does ` +
    "not reach the host it comes from. Compile where it does, or name a denort of the same version in DENORT_BIN. " +
    "On x86-64 Linux with npm and PyPI only:\n" +
    '  DENORT_BIN="$(scripts/denort.sh)" npx -y deno@2.6.8 task compile';
}

/**
 * The minifier puts a variable that is read once into the place where it is read, also one that was declared with `using`:
 * then nobody disposes of it. Ends the program when that has happened.
 */
async function refuseLostUsing(): Promise<void> {
  const plain = `${BUILD}-plain`;
  await bundle(plain);
  const [left, wanted] = [await usings(BUILD), await usings(plain)];
  await Deno.remove(`${ROOT}${plain}`, { recursive: true });
  if (left.length >= wanted.length) return;
  console.error(
    `The minifier has lost ${
      wanted.length - left.length
    } of these. Use the variable twice, or \`try\` and \`finally\`:\n` +
      wanted.join("\n"),
  );
  Deno.exit(1);
}

/** The declarations with `using` in a bundle. */
async function usings(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const dir of ["", "src/"]) {
    for await (const { name, isFile } of Deno.readDir(`${ROOT}${folder}/${dir}`)) {
      if (!isFile || !name.endsWith(".js")) continue;
      const text = await Deno.readTextFile(`${ROOT}${folder}/${dir}${name}`);
      found.push(...text.match(/\busing [\w$]+ ?=[^;]{0,60}/g) ?? []);
    }
  }
  return found;
}

/** Packages in CommonJS form ask for Node's modules with `require`, which a bundle does not have by itself. */
const REQUIRE =
  'import{createRequire as __createRequire}from"node:module";var require=__createRequire(import.meta.url);\n';

await Deno.remove(`${ROOT}${BUILD}`, { recursive: true }).catch(() => {});
// Split, so that what is imported only when it is needed (the agent, the tokenizer) costs no memory before.
const bundle = (to: string, ...more: string[]) =>
  deno([
    "bundle",
    ...UNSTABLE,
    "--platform",
    "deno",
    "--code-splitting",
    "--outdir",
    to,
    ...more,
    "main.ts",
    "src/worker.ts",
  ]);
await bundle(BUILD, "--minify");
await refuseLostUsing();
for (const dir of ["", "src/"]) {
  for await (const { name, isFile } of Deno.readDir(`${ROOT}${BUILD}/${dir}`)) {
    if (!isFile || !name.endsWith(".js")) continue;
    const path = `${ROOT}${BUILD}/${dir}${name}`;
    await Deno.writeTextFile(path, REQUIRE + await Deno.readTextFile(path));
  }
}
await deno([
  "compile",
  "--allow-all",
  "--no-check",
  "--no-config",
  "--no-lock",
  "--unstable-worker-options",
  // The gateway's WebSockets to GNS3 are streams, which are read only as fast as the client takes them.
  "--unstable-net",
  ...ABORT,
  "--include",
  `${BUILD}/src/worker.js`,
  "--output",
  `${OUTPUT}.new`,
  `${BUILD}/main.js`,
], denortAdvice);
// Only now: a failed try leaves the executable that was there, and one that runs may be replaced.
await Deno.rename(`${ROOT}${OUTPUT}.new`, `${ROOT}${OUTPUT}`);
const { size } = await Deno.stat(`${ROOT}${OUTPUT}`);
console.log(`${OUTPUT}: ${(size / 1e6).toFixed(1)} MB, made with Deno ${Deno.version.deno}`);
