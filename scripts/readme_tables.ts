// `deno run -A scripts/readme_tables.ts`: prints the README's tables of options and routes, as `tests/docs_test.ts` wants them.
import { fileURLToPath } from "node:url";
import { fallbackOf, flagOf, SETTING_KEYS, SETTINGS } from "../src/settings.ts";
import { createLogger } from "../src/log.ts";
import { createServer } from "../src/server.ts";
import { freezeConfig, readConfig } from "../src/config.ts";

console.log("| option | default | |\n|---|---|---|");
for (const key of SETTING_KEYS) {
  const { value, help } = SETTINGS[key];
  const fallback = fallbackOf(key);
  const shown = fallback === "" || fallback === "false" ? "" : `\`${fallback}\``;
  console.log(`| \`${`--${flagOf(key)} ${value}`.trimEnd()}\` | ${shown} | ${help} |`);
}

const directory = fileURLToPath(new URL("../", import.meta.url));
const { config } = readConfig({ args: [], env: {}, read: () => "" });
const server = await createServer(freezeConfig({ ...config, projectsDir: directory, stateDir: directory }), {
  log: createLogger({ level: "error", format: "pretty" }),
});
const connection: Deno.ServeHandlerInfo<Deno.NetAddr> = {
  remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 0 },
  completed: Promise.resolve(),
};
const response = await server.fetch(new Request("http://localhost/openapi.json"), connection);
const { paths } = await response.json() as { paths: Record<string, Record<string, { summary: string }>> };
console.log("\n| method | path | |\n|---|---|---|");
for (const [path, methods] of Object.entries(paths)) {
  if (path.startsWith("/v3/copilot/projects/")) continue;
  for (const [method, { summary }] of Object.entries(methods)) {
    console.log(`| ${method.toUpperCase()} | \`${path}\` | ${summary} |`);
  }
}
await server.close();
