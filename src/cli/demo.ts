// `gns3-copilot demo`: the practice lab, the practice model and the server in one process, without GNS3, key or network.
import { parseArgs } from "node:util";
import { AppError, errorText } from "../domain/error.ts";
import type { Command } from "./command.ts";

const OPTIONS = `  --once          show one conversation in the terminal and end
  --port PORT     where the server listens (3081; with --once any free port)`;

export const demo: Command = {
  name: "demo",
  summary: "a practice lab to try it: no GNS3, no key and no network needed",
  options: () => OPTIONS,
  async run(args, context) {
    const { once, port } = readOptions(args);
    // Loaded here, so that the server itself does not carry the lab in its memory.
    const { runDemo } = await import("../practice/demo.ts");
    return await runDemo({ once, port: port ?? (once ? 0 : 3081), context });
  },
};

function readOptions(args: readonly string[]): { once: boolean; port?: number } {
  let values: { once?: boolean; port?: string };
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: { once: { type: "boolean" }, port: { type: "string" } },
    }));
  } catch (error) {
    throw new AppError(
      "bad_request",
      `${errorText(error).split(". ")[0]}. --help lists the options of demo.`,
    );
  }
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw new AppError("bad_request", "--port must be a whole number from 0 to 65535.");
  }
  return { once: values.once ?? false, port };
}
