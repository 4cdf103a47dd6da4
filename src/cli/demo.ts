// `gns3-copilot demo`: the practice lab, the practice model and the server in one process, without GNS3, key or network.
import { AppError } from "../domain/error.ts";
import type { Command } from "./command.ts";
import { readOptions } from "./options.ts";

const OPTIONS = `  --once          show one conversation in the terminal and end
  --port PORT     where the server listens (3081; with --once any free port)`;

export const demo: Command = {
  name: "demo",
  summary: "a practice lab to try it: no GNS3, no key and no network needed",
  options: () => OPTIONS,
  async run(args, context) {
    const { once, port } = optionsOf(args);
    // Loaded here, so that the server itself does not carry the lab in its memory.
    const { runDemo } = await import("../practice/demo.ts");
    return await runDemo({ once, port: port ?? (once ? 0 : 3081), context });
  },
};

function optionsOf(args: readonly string[]): { once: boolean; port?: number } {
  const { values } = readOptions("demo", args, { once: { type: "boolean" }, port: { type: "string" } });
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw new AppError("bad_request", "--port must be a whole number from 0 to 65535.");
  }
  return { once: values.once === true, port };
}
