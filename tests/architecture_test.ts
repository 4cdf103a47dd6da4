// Who may import whom: the layers of the program and the fences around libraries, checked on `deno info`.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../", import.meta.url);

const BASE = ["domain", "base"];
const MIDDLE = ["gns3", "devices", "storage", "models", "knowledge", "host"];

/** Folder of `src/` → the folders it may import besides itself. `base` and `top` are the files of `src/` itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "domain": [],
  "base": ["domain"],
  ...Object.fromEntries(MIDDLE.map((folder) => [folder, BASE])),
  "tools": [...BASE, ...MIDDLE.filter((folder) => folder !== "storage" && folder !== "models")],
  "agent": [...BASE, ...MIDDLE.filter((folder) => folder !== "devices" && folder !== "host"), "tools"],
  "http": [...BASE, "tools", "agent", "gns3", "storage", "knowledge", "models", "http/dialects"],
  "http/dialects": ["domain"],
  "practice": [...BASE, ...MIDDLE, "tools", "agent", "http", "http/dialects", "top", "cli"],
  "cli": [...BASE, ...MIDDLE, "tools", "agent", "http", "http/dialects", "top", "practice"],
  "top": [...BASE, ...MIDDLE, "tools", "agent", "http", "http/dialects", "cli", "practice"],
};
const BASE_FILES = ["config", "config_model", "settings", "suggest", "log", "redact", "metrics", "version"];
const TOP_FILES = ["server", "project_agents", "project_lifecycle", "stored_models", "worker", "worker_loop"];

/** Package → the only places that may import it; a place is a folder or a file of `src/`. */
const FENCES: Readonly<Record<string, readonly string[]>> = {
  "hono": ["http", "practice"],
  "zod-openapi": ["http"],
  // Types alone: its client looks into the environment.
  "@anthropic-ai/": ["models"],
  "@langchain/": [
    "agent",
    "models",
    "storage/checkpoints.ts",
    "storage/codec.ts",
    "storage/message_codec.ts",
    "storage/message_rows.ts",
    "storage/python",
    "storage/step_saver.ts",
  ],
  "node:sqlite": ["storage"],
};

/** Where the operating system may be reached: through `Deno.…` or through a module of Node that does the same. */
const SYSTEM_PLACES = [
  "main.ts",
  "worker.ts",
  "worker_loop.ts",
  "log.ts",
  "cli",
  "practice",
  "gns3/client.ts",
  "models/address_guard.ts",
  "devices/telnet.ts",
  "storage/audit_log.ts",
  "storage/database.ts",
  "storage/kept.ts",
  "storage/lock.ts",
  "storage/places.ts",
  "storage/backup.ts",
  "storage/reader.ts",
  "storage/repair.ts",
  "storage/visit.ts",
  "storage/file_signature.ts",
  "storage/restored.ts",
  "storage/secrets.ts",
  "storage/state_database.ts",
  "knowledge/folder.ts",
  "http/gateway/http.ts",
  "http/gateway/websocket.ts",
  "host/helper.ts",
  "host/tshark.ts",
  "host/capture_file.ts",
];
const SYSTEM_MODULES =
  /^node:(fs|fs\/promises|os|process|child_process|net|tls|http|https|dgram|dns|worker_threads|inspector|vm)$/;

/** A file of the program: its path inside `src/` (or `main.ts`), what it imports, and its text. */
interface Source {
  path: string;
  /** Paths inside `src/`, or names of packages. */
  imports: readonly string[];
  /** Those of `imports` that are loaded with the file itself: not types, not what is imported when it is needed. */
  loads?: readonly string[];
  text: string;
}

function folderOf(path: string): string {
  if (path === "main.ts") return "top";
  if (!path.includes("/")) {
    const name = path.replace(/\.ts$/, "");
    if (BASE_FILES.includes(name)) return "base";
    return TOP_FILES.includes(name) ? "top" : `unknown file ${path}`;
  }
  return path.startsWith("http/dialects/") ? "http/dialects" : path.slice(0, path.indexOf("/"));
}

const isIn = (path: string, places: readonly string[]) =>
  places.some((place) => path === place || path.startsWith(`${place}/`));

/** Every rule that these sources break, one sentence each. */
function violations(sources: readonly Source[]): string[] {
  const found: string[] = [];
  for (const { path, imports, text } of sources) {
    const folder = folderOf(path);
    const allowed = MAY_IMPORT[folder];
    if (!allowed) {
      found.push(`${path}: the architecture knows no place for it`);
      continue;
    }
    for (const target of imports) {
      const inside = /\.(ts|json|md|yaml|html)$/.test(target);
      if (inside) {
        const to = folderOf(target);
        const text = !target.endsWith(".ts");
        if (!text && to !== folder && !allowed.includes(to)) {
          found.push(`${path} imports ${target}: ${folder} may not import ${to}`);
        }
        if (text && target !== "../deno.json" && !target.startsWith(`${folder}/`)) {
          found.push(`${path} imports ${target}, a text of another folder`);
        }
        continue;
      }
      if (/^(npm|jsr|https?):/.test(target)) {
        found.push(`${path} imports ${target}: only deno.json knows where packages come from`);
      }
      if (
        folder === "domain" && target !== "zod" &&
        !(path === "domain/scope.ts" && target === "node:async_hooks")
      ) {
        found.push(`${path} imports ${target}: domain may only import zod`);
      }
      for (const [name, places] of Object.entries(FENCES)) {
        const meant = target === name || target.startsWith(name.endsWith("/") ? name : `${name}/`);
        if (meant && !isIn(path, places)) {
          found.push(`${path} imports ${target}: only ${places.join(", ")} may`);
        }
      }
      if (SYSTEM_MODULES.test(target) && !isIn(path, SYSTEM_PLACES)) {
        found.push(`${path} imports ${target}: the system is not reached from here`);
      }
    }
    const code = withoutComments(text);
    if (/\bDeno\.(?!errors\b)/.test(code) && !isIn(path, SYSTEM_PLACES)) {
      found.push(`${path} uses Deno.…: the system is not reached from here`);
    }
    const lost = /\bAbortSignal\s*(?:\?\.|\.|\[\s*["'`])\s*(?:any|timeout)\b/.exec(code)?.[0];
    if (lost) {
      found.push(
        `${path} uses ${lost}: Deno may collect the signal as garbage while it is waited for, and then nothing ends ` +
          "the wait; joinSignals (domain/signals.ts) is for this",
      );
    }
    if (/\bDeno\.env\b|\bprocess\.env\b/.test(code) && path !== "main.ts") {
      found.push(`${path} reads the environment: only main.ts may`);
    }
    if (/\bcurrentScope\b/.test(code) && folder !== "agent" && path !== "domain/scope.ts") {
      found.push(`${path} reads the request's scope: only agent may`);
    }
    if (!text.startsWith("// ")) found.push(`${path} does not say first what it is for`);
  }
  return found;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
}

async function* sourceFiles(dir: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(dir)) {
    const url = new URL(name + (isDirectory ? "/" : ""), dir);
    if (isDirectory) yield* sourceFiles(url);
    else if (name.endsWith(".ts")) yield url;
  }
}

interface Resolved {
  specifier: string;
  isDynamic?: boolean;
  code?: { specifier?: string; error?: string };
  type?: { specifier?: string; error?: string };
}

/** Reads the program with `deno info`, which needs no network once the packages are there. */
async function readProgram(): Promise<Source[]> {
  const files = [new URL("main.ts", ROOT)];
  for await (const url of sourceFiles(new URL("src/", ROOT))) files.push(url);
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(entry, files.map(({ href }) => `import ${JSON.stringify(href)};\n`).join(""));
    const config = fileURLToPath(new URL("deno.json", ROOT));
    const command = new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--no-lock", "--config", config, entry],
    });
    const { success, stdout, stderr } = await command.output();
    assert.ok(success, new TextDecoder().decode(stderr));
    const modules: { specifier: string; dependencies?: Resolved[]; error?: string }[] =
      JSON.parse(new TextDecoder().decode(stdout)).modules;
    const bySpecifier = new Map(modules.map((module) => [module.specifier, module]));
    return files.map(({ href, pathname }) => {
      const module = bySpecifier.get(href);
      assert.ok(module && !module.error, `deno info does not know ${href}: ${module?.error}`);
      return {
        path: inside(href),
        imports: (module.dependencies ?? []).map(targetOf),
        loads: (module.dependencies ?? []).filter(({ code, isDynamic }) => code && !isDynamic).map(targetOf),
        text: Deno.readTextFileSync(pathname),
      };
    });
  } finally {
    await Deno.remove(entry);
  }
}

function targetOf({ specifier, code, type }: Resolved): string {
  const target = code?.specifier ?? type?.specifier;
  return target?.startsWith(ROOT.href) ? inside(target) : specifier;
}

function inside(href: string): string {
  const path = href.slice(ROOT.href.length);
  return path.startsWith("src/") ? path.slice(4) : path === "main.ts" ? path : `../${path}`;
}

Deno.test("every import keeps to the layers, and every library stays behind its fence", async () => {
  const sources = await readProgram();
  assert.ok(sources.length > 10 && sources.some(({ imports }) => imports.includes("domain/error.ts")));
  assert.deepEqual(violations(sources), []);
});

/** How `from` comes to load what `wanted` names, file by file; undefined when it does not. */
function wayTo(
  wanted: (target: string) => boolean,
  from: string,
  sources: readonly Source[],
): string[] | undefined {
  const loads = new Map(sources.map((source) => [source.path, source.loads ?? []]));
  const ways = [[from]];
  const seen = new Set([from]);
  for (const way of ways) {
    for (const target of loads.get(way.at(-1)!) ?? []) {
      if (wanted(target)) return [...way, target];
      if (!seen.has(target)) ways.push([...way, target]);
      seen.add(target);
    }
  }
  return undefined;
}

// A fifth of a second and 30 MB, which a server that nobody chats with yet does not need.
Deno.test("the server starts without LangChain: it is loaded with the first project", async () => {
  const sources = await readProgram();
  const isLangChain = (target: string) => target.startsWith("@langchain/");
  assert.deepEqual(wayTo(isLangChain, "worker.ts", sources), undefined);
  assert.ok(wayTo(isLangChain, "project_agents.ts", sources));
  assert.ok(wayTo((target) => target === "storage/state_database.ts", "worker.ts", sources));
});

Deno.test("the rules bite: each kind of offence is found, and named", () => {
  const file = (path: string, imports: string[] = [], text = "// x\n"): Source => ({ path, imports, text });
  const offences: [Source, RegExp][] = [
    [
      file("storage/a.ts", ["gns3/client.ts"]),
      /^storage\/a\.ts imports gns3\/client\.ts: storage may not import gns3$/,
    ],
    [file("tools/a.ts", ["storage/a.ts"]), /tools may not import storage/],
    [file("agent/a.ts", ["devices/a.ts"]), /agent may not import devices/],
    [file("http/a.ts", ["devices/a.ts"]), /http may not import devices/],
    [file("http/dialects/a.ts", ["http/sse.ts"]), /http\/dialects may not import http/],
    [file("config.ts", ["gns3/client.ts"]), /base may not import gns3/],
    [file("gns3/a.ts", ["server.ts"]), /gns3 may not import top/],
    [file("domain/a.ts", ["config.ts"]), /domain may not import base/],
    [file("domain/a.ts", ["yaml"]), /domain may only import zod/],
    [file("domain/a.ts", ["node:async_hooks"]), /domain may only import zod/],
    [file("agent/a.ts", ["hono/streaming"]), /only http, practice may/],
    [file("storage/a.ts", ["@langchain/core/messages"]), /only agent, models, storage\/checkpoints\.ts/],
    [file("agent/a.ts", ["node:sqlite"]), /only storage may/],
    [file("http/a.ts", ["npm:hono@4"]), /only deno\.json knows/],
    [file("gns3/a.ts", ["../tests/fakes/x.ts"]), /gns3 may not import/],
    [file("agent/a.ts", ["http/page/x.html"]), /a text of another folder/],
    [file("agent/a.ts", ["node:fs"]), /the system is not reached from here/],
    [file("agent/a.ts", [], "// x\nDeno.readTextFile(path);"), /the system is not reached from here/],
    [file("log.ts", [], "// x\nDeno.env.get(name);"), /only main\.ts may/],
    [file("models/a.ts", [], "// x\nprocess.env.KEY;"), /only main\.ts may/],
    [file("tools/a.ts", [], "// x\ncurrentScope();"), /only agent may/],
    [
      file("gns3/a.ts", [], "// x\nfetch(url, { signal: AbortSignal.any([a, b]) });"),
      /AbortSignal\.any: Deno may collect/,
    ],
    [
      file("agent/a.ts", [], "// x\nconst late = AbortSignal\n  .timeout(5000);"),
      /joinSignals .* is for this/,
    ],
    [file("practice/a.ts", [], '// x\nAbortSignal["any"](all);'), /joinSignals/],
    [file("tools/a.ts", [], "export {};"), /does not say first/],
    [file("other/a.ts"), /knows no place/],
    [file("other.ts"), /knows no place/],
  ];
  for (const [source, expected] of offences) {
    const found = violations([source]);
    assert.equal(found.length, 1, `${source.path} ${source.imports}: ${JSON.stringify(found)}`);
    assert.match(found[0]!, expected);
  }
  const fine = [
    file("storage/checkpoints.ts", ["@langchain/core/messages", "node:sqlite", "domain/error.ts", "log.ts"]),
    file(
      "agent/graph.ts",
      ["agent/prompts/a.md"],
      "// Uses Deno.serve? No.\n/* Deno.env */ const url = 'http://Deno/x';",
    ),
    file("domain/scope.ts", ["node:async_hooks", "domain/error.ts"]),
    file("version.ts", ["../deno.json"]),
    file("storage/a.ts", [], "// x\nif (error instanceof Deno.errors.NotFound) return;"),
    file("agent/a.ts", [], "// AbortSignal.any would be lost.\nAbortSignal.abort();"),
  ];
  assert.deepEqual(violations(fine), []);
});

Deno.test("deno.lock names no host: packages come from whatever registry a machine uses", async () => {
  const lock = await Deno.readTextFile(new URL("deno.lock", ROOT));
  assert.doesNotMatch(lock, /https?:|tarball/);
});
