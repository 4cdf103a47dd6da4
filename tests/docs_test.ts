// The README names every setting, route, tool and platform, and no option that does not exist.
import assert from "node:assert/strict";
import { MODEL_VARIABLES } from "../src/config_model.ts";
import { PLATFORMS } from "../src/devices/platforms/mod.ts";
import { fallbackOf, flagOf, SETTING_KEYS, variableOf } from "../src/settings.ts";
import { TOOLS } from "../src/tools/mod.ts";
import { startFromSource, workspace } from "./fakes/program.ts";

const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url)).catch(() => "");
const lines = readme.split("\n");

const ALIAS = "/v3/copilot/projects/{project_id}/chat";
const CANONICAL = "/v3/projects/{project_id}/chat";

/** Fails with everything that is missing at once. */
function assertNone(missing: readonly string[]) {
  assert.deepEqual(missing, []);
}

Deno.test("README: every setting stands in a table row of its own with its default", () => {
  assertNone(SETTING_KEYS.flatMap((key) => {
    const row = lines.find((line) => line.startsWith(`| \`--${flagOf(key)}`));
    if (!row) return [`no row that starts with | \`--${flagOf(key)}`];
    const fallback = fallbackOf(key);
    const shown = fallback === "" || fallback === "false" || row.includes(`\`${fallback}\``);
    return shown ? [] : [`the row of --${flagOf(key)} does not show its default \`${fallback}\``];
  }));
});

Deno.test("README: how an option is given by environment and by file is shown on a real one", () => {
  const shown = SETTING_KEYS.some((key) => readme.includes(variableOf(key)));
  const inFile = SETTING_KEYS.some((key) => readme.includes(`\n${flagOf(key).replaceAll("-", "_")}: `));
  assert.deepEqual([shown, inFile, readme.includes("`--config")], [true, true, true]);
});

Deno.test("README: every variable of the model for everyone is named", () => {
  assertNone([...MODEL_VARIABLES.keys()].filter((variable) => !readme.includes(`\`${variable}\``)));
});

Deno.test("README: every option that it names exists", () => {
  const known = new Set([...SETTING_KEYS.map(flagOf), "config", "version", "help", "once", "repair", "to"]);
  const named = [...readme.matchAll(/(?:`|gns3-copilot [^\n`]*)--([a-z][a-z0-9-]*)/g)].map((match) =>
    match[1]!
  );
  assertNone(named.filter((name) => !known.has(name)));
});

Deno.test("README: every tool is named", () => {
  assert.ok(TOOLS.length > 0);
  assertNone(TOOLS.map(({ name }) => name).filter((name) => !readme.includes(`\`${name}\``)));
});

Deno.test("README: every platform is named by the tags that choose it", () => {
  const tags = PLATFORMS.flatMap(({ deviceTypes }) => deviceTypes);
  assert.ok(tags.length > 0);
  assertNone(tags.filter((tag) => !readme.includes(`\`${tag}\``)));
});

Deno.test("README: every route of the OpenAPI document is named with its method, aliases by their prefix", async () => {
  const space = workspace();
  const program = startFromSource(space.options);
  try {
    const [url] = await program.until(/http:\/\/127\.0\.0\.1:\d+(?=\s+GNS3)/);
    const { paths } = await (await fetch(`${url}/openapi.json`)).json() as { paths: Record<string, object> };
    assert.ok(Object.keys(paths).length > 5);
    const named = (path: string, method: string) =>
      lines.some((line) => line.includes(`\`${path}\``) && line.split(/\W+/).includes(method));
    const missing = [];
    for (const [path, methods] of Object.entries(paths)) {
      const canonical = path.replace(ALIAS, CANONICAL);
      if (canonical !== path) {
        assert.ok(paths[canonical], `${path} is an alias of nothing`);
        if (!readme.includes(`\`${ALIAS}\``)) missing.push(ALIAS);
        continue;
      }
      for (const method of Object.keys(methods).map((name) => name.toUpperCase())) {
        if (!named(path, method)) missing.push(`${method} ${path}`);
      }
    }
    assertNone(missing);
  } finally {
    program.kill("SIGKILL");
    await program.ended();
    space.close();
  }
});
