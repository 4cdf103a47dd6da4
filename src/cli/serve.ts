// `gns3-copilot serve`: starts the server, says where it is, and stops it in good order.
import { type Config, readConfig } from "../config.ts";
import { createLogger } from "../log.ts";
import { optionsHelp } from "../settings.ts";
import { VERSION } from "../version.ts";
import type { Command, CommandContext } from "./command.ts";
import { withDirectories } from "./directories.ts";
import { findProgram } from "./find_program.ts";
import { type Programs, type RunningServer, startServer } from "./server_worker.ts";
import { onStopSignal } from "./signals.ts";

export const serve: Command = {
  name: "serve",
  summary: "the server (also without a command)",
  options: optionsHelp,
  async run(args, context) {
    const { config: given, notes } = readConfig({ args, env: context.env, read: Deno.readTextFileSync });
    const config = withDirectories(given, context.env);
    const log = createLogger({ level: config.logLevel, format: config.logFormat });
    for (const note of notes) log.warn(note);
    const programs = { tshark: findProgram("tshark", context.env.PATH) };
    const server = await startServer(config, context.workerUrl, programs);
    // Signals are heard before anybody can know that there is something to stop.
    const exitCode = untilStopped(server, config, context);
    announce(server, config, programs, context);
    return await exitCode;
  },
};

/** How long after the drain time the Worker may still take to save and close. */
const CLOSING_SECONDS = 10;

/** One Ctrl-C reaches a program under `deno task` twice: from the terminal, and passed on by `deno task`. */
const SAME_SIGNAL_MS = 500;

/**
 * Waits for SIGINT or SIGTERM, then for the server to drain. Resolves to the exit code: 0 when it drained, 128 + the
 * signal's number when a second signal came, 1 when the Worker died or did not come to an end.
 */
export async function untilStopped(
  server: RunningServer,
  config: Config,
  { print }: CommandContext,
): Promise<number> {
  const say = (text: string) => config.quiet || tell(config, print, text);
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<number>();
  let firstAt: number | undefined;
  const stopListening = onStopSignal((exitCode) => {
    const now = performance.now();
    if (firstAt === undefined) first.resolve();
    else if (now - firstAt > SAME_SIGNAL_MS) second.resolve(exitCode);
    firstAt ??= now;
  });
  const crash = server.crashed.then((message) => {
    createLogger({ level: "error", format: config.logFormat }).error(
      `The server ended unexpectedly: ${message}`,
    );
    return 1;
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const crashed = await Promise.race([first.promise, crash]);
    if (crashed !== undefined) return crashed;
    say(`Stopping: running answers have up to ${config.drainTimeout} s. A second signal stops at once.`);
    const late = new Promise<number>((resolve) => {
      timer = setTimeout(() => {
        const log = createLogger({ level: "error", format: config.logFormat });
        log.error("The server did not come to an end in time and was stopped.");
        resolve(1);
      }, (config.drainTimeout + CLOSING_SECONDS) * 1000);
    });
    const code = await Promise.race([server.drain().then(() => 0), second.promise, late, crash]);
    if (code === 0) say("Stopped. Everything is saved.");
    return code;
  } finally {
    clearTimeout(timer);
    stopListening();
    server.terminate();
  }
}

/** In JSON format every line is a log line, so that whoever reads them need not tell two kinds apart. */
function tell(config: Config, print: CommandContext["print"], text: string, fields = {}): void {
  if (config.logFormat === "json") createLogger({ level: "info", format: "json" }).info(text, fields);
  else print(text);
}

/** `http://127.0.0.1:3081`; an address that means "all" is shown as the one that works on this machine. */
export function addressOf({ hostname, port }: Pick<RunningServer, "hostname" | "port">): string {
  const everywhere = hostname === "0.0.0.0" || hostname === "::";
  const host = everywhere ? "127.0.0.1" : hostname.includes(":") ? `[${hostname}]` : hostname;
  return `http://${host}:${port}`;
}

function announce(
  server: RunningServer,
  config: Config,
  programs: Programs,
  { print }: CommandContext,
): void {
  if (config.quiet) return;
  const address = addressOf(server);
  const packets = programs.tshark ?? "tshark is not installed: captures can be made, not read";
  const model = config.model ? config.model.model : "none for everyone; each user stores their own";
  if (config.logFormat === "json") {
    const { mounted, hostname } = server;
    const { gns3Url: gns3_url, projectsDir: projects_dir, stateDir: state_dir } = config;
    const fields = {
      version: VERSION,
      address,
      host: hostname,
      mounted,
      gns3_url,
      projects_dir,
      state_dir,
      model,
      tshark: programs.tshark ?? null,
    };
    return tell(config, print, "GNS3 Copilot Server is listening. SIGTERM or Ctrl-C stops it.", fields);
  }
  const rows = [
    [
      "Address",
      address + (address.includes(server.hostname) ? "" : " and every other address of this machine"),
    ],
    ["GNS3", config.gns3Url],
    ["Projects", config.projectsDir],
    ["State", config.stateDir],
    ["Model", model],
    ["Packets", packets],
    ...server.mounted.map((line, index) => [index === 0 ? "Mounted" : "", line]),
  ];
  print(`GNS3 Copilot Server ${VERSION}`);
  for (const [name, value] of rows) print(`  ${name!.padEnd(10)}${value}`);
  print("Ctrl-C stops it.");
}
