// The configuration language of the practice routers; the console's configuration mode and the startup file use it alike.
import type { Router, RouterInterface } from "./device.ts";
import { type Command, match } from "./grammar.ts";
import type { Network } from "./network.ts";
import { INTERFACE_COMMANDS } from "./router_config_interface.ts";
import { GLOBAL_COMMANDS, LINE_COMMANDS, OSPF_COMMANDS } from "./router_config_commands.ts";
import { eraseRunning } from "./router.ts";

export type ConfigMode = "config" | "config-if" | "config-router" | "config-line";

/** One editing of a configuration: where the user is, and how to answer. */
export interface ConfigSession {
  net: Network;
  router: Router;
  mode: ConfigMode;
  iface: RouterInterface | null;
  /** Lines of a banner that is being typed, with the character that ends it. */
  banner: { delimiter: string; lines: string[] } | null;
  method: "NVRAM" | "manual";
  print(text: string): void;
}

export type ConfigCommand = Command<ConfigSession>;

const COMMANDS: Record<ConfigMode, readonly ConfigCommand[]> = {
  "config": GLOBAL_COMMANDS,
  "config-if": INTERFACE_COMMANDS,
  "config-router": OSPF_COMMANDS,
  "config-line": LINE_COMMANDS,
};

/** The commands of the mode the session is in, for `?`. */
export function commandsOf(session: ConfigSession): readonly ConfigCommand[] {
  return COMMANDS[session.mode];
}

/** What became of a line: null when it was taken, else IOS's complaint; `at` is the column for the caret. */
export type Complaint =
  | { error: "invalid"; at: number }
  | { error: "ambiguous" }
  | { error: "incomplete" }
  | null;

/** Takes one line. A line that the current mode does not know is tried in global mode, as IOS does. */
export function configure(session: ConfigSession, line: string): Complaint {
  if (session.banner) return bannerLine(session, line);
  if (line.trim() === "" || line.trim().startsWith("!")) return null;
  let matched = match(COMMANDS[session.mode], line);
  if ("error" in matched && matched.error === "invalid" && session.mode !== "config") {
    const global = match(GLOBAL_COMMANDS, line);
    if (!("error" in global)) {
      session.mode = "config";
      session.iface = null;
      matched = global;
    }
  }
  if ("error" in matched) return matched;
  void matched.command.run(session, matched.args);
  return null;
}

function bannerLine(session: ConfigSession, line: string): null {
  const banner = session.banner!;
  const end = line.indexOf(banner.delimiter);
  banner.lines.push(end < 0 ? line : line.slice(0, end));
  if (end >= 0) {
    session.router.banner = banner.lines.join("\n");
    session.banner = null;
  }
  return null;
}

/** Switched on: factory settings, then the startup configuration. Lines it does not understand are skipped. */
export function bootRouter(net: Network, router: Router): void {
  eraseRunning(router);
  const session: ConfigSession = {
    net,
    router,
    mode: "config",
    iface: null,
    banner: null,
    method: "NVRAM",
    print: () => {},
  };
  for (const line of router.startup.split(/\r?\n/)) {
    if (line.trim() === "end" && !session.banner) break;
    if (line.startsWith("interface ") || line.startsWith("router ") || line === "!") session.mode = "config";
    configure(session, line);
  }
  router.bootedAt = net.now();
  router.dirty = false;
  router.journal = [];
}
