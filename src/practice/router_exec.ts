// Commands of a practice router outside of configuration mode.
import { parseAddress } from "./address.ts";
import type { Router } from "./device.ts";
import type { Command } from "./grammar.ts";
import { findInterface } from "./interface_name.ts";
import { type Network, touched } from "./network.ts";
import { stamp } from "./router_journal.ts";
import { routerPing, routerTraceroute } from "./router_ping.ts";
import { interfaceConfig, runningConfig } from "./router.ts";
import * as show from "./router_show.ts";
import type { ShellIo } from "./terminal.ts";
import type { Timing } from "./timing.ts";

/** What a command may use; `page` prints through the pager and the `|` filter. */
export interface ExecContext {
  net: Network;
  router: Router;
  timing: Timing;
  io: ShellIo;
  page(text: string): Promise<void>;
  session: ExecSession;
}

/** The state of the line, kept over commands. */
export interface ExecSession {
  privileged: boolean;
  configuring: boolean;
  loggedOut: boolean;
  rebooting: boolean;
  /** Lines of a page; 0 means no paging. */
  length: number;
}

export type ExecCommand = Command<ExecContext>;

const looking = (
  pattern: string,
  text: (net: Network, router: Router, args: string[]) => string,
): ExecCommand => ({
  pattern,
  run: ({ net, router, page }, args) => page(text(net, router, args)),
});

function allInterfaces(net: Network, router: Router): string {
  return router.interfaces.map((iface) => show.showInterface(net, router, iface)).join("");
}

function oneInterface(net: Network, router: Router, name: string): string {
  const iface = findInterface(router, name);
  return iface ? show.showInterface(net, router, iface) : "% Invalid interface type and number\n";
}

function running(router: Router): string {
  const config = runningConfig(router);
  return `Building configuration...\n\nCurrent configuration : ${config.length} bytes\n!\n${config}\n`;
}

function oneInterfaceConfig(router: Router, name: string): string {
  const iface = findInterface(router, name);
  if (!iface) return "% Invalid interface type and number\n";
  const config = `${interfaceConfig(iface).join("\n")}\nend\n`;
  return `Building configuration...\n\nCurrent configuration : ${config.length} bytes\n!\n${config}\n`;
}

function startup(router: Router): string {
  if (!router.startup) return "startup-config is not present\n";
  return `Using ${router.startup.length} out of 155640 bytes\n!\n${router.startup}\n`;
}

function log(router: Router): string {
  return `Syslog logging: enabled\n\nLog Buffer (4096 bytes):\n\n${router.journal.slice(-40).join("\n")}\n`;
}

export const SHOW_COMMANDS: readonly ExecCommand[] = [
  looking("show arp", show.showArp),
  looking("show ip arp", show.showArp),
  looking("show clock", (net) => `*${stamp(net.now()).slice(7)} UTC ${stamp(net.now()).slice(0, 6)}\n`),
  looking("show interfaces", allInterfaces),
  looking("show interfaces <if>", (net, router, [name]) => oneInterface(net, router, name ?? "")),
  looking("show ip interface brief", show.showIpInterfaceBrief),
  looking("show ip ospf interface brief", show.showOspfInterfaceBrief),
  looking("show ip ospf neighbor", show.showOspfNeighbors),
  looking("show ip protocols", show.showIpProtocols),
  looking("show ip route", (net, router) => show.showIpRoute(net, router)),
  looking("show ip route connected", (net, router) => show.showIpRoute(net, router, "C")),
  looking("show ip route ospf", (net, router) => show.showIpRoute(net, router, "O")),
  looking("show ip route static", (net, router) => show.showIpRoute(net, router, "S")),
  looking(
    "show ip route <addr>",
    (net, router, [to]) => show.showIpRouteTo(net, router, parseAddress(to ?? "") ?? 0),
  ),
  looking("show logging", (_, router) => log(router)),
  looking("show running-config", (_, router) => running(router)),
  looking(
    "show running-config interface <if>",
    (_, router, [name]) => oneInterfaceConfig(router, name ?? ""),
  ),
  looking("show startup-config", (_, router) => startup(router)),
  looking("show version", show.showVersion),
];

const pinging = (pattern: string, names: string[]): ExecCommand => ({
  pattern,
  run({ net, router, io, timing }, args) {
    const value = (name: string) => args[names.indexOf(name)];
    const count = Number(value("count") ?? 5);
    const size = Number(value("size") ?? 100);
    return routerPing(
      net,
      router,
      args[0] ?? "",
      { count, size, source: value("source") ?? null },
      io,
      timing,
    );
  },
});

const REACH_COMMANDS: readonly ExecCommand[] = ["", "ip "].flatMap((ip) => [
  pinging(`ping ${ip}<addr>`, ["to"]),
  pinging(`ping ${ip}<addr> repeat <num>`, ["to", "count"]),
  pinging(`ping ${ip}<addr> size <num>`, ["to", "size"]),
  pinging(`ping ${ip}<addr> source <if>`, ["to", "source"]),
  pinging(`ping ${ip}<addr> source <addr>`, ["to", "source"]),
  pinging(`ping ${ip}<addr> source <if> repeat <num>`, ["to", "source", "count"]),
  pinging(`ping ${ip}<addr> source <addr> repeat <num>`, ["to", "source", "count"]),
  pinging(`ping ${ip}<addr> repeat <num> source <if>`, ["to", "count", "source"]),
  pinging(`ping ${ip}<addr> repeat <num> source <addr>`, ["to", "count", "source"]),
  {
    pattern: `traceroute ${ip}<addr>`,
    run: ({ net, router, io, timing }, [to]) => routerTraceroute(net, router, to ?? "", io, timing),
  },
]);

function save({ net, router, io }: ExecContext): void {
  router.startup = runningConfig(router);
  router.dirty = false;
  touched(net);
  io.print("Building configuration...\n[OK]\n");
}

async function erase({ net, router, io }: ExecContext): Promise<void> {
  const answer = await io.ask(
    "Erasing the nvram filesystem will remove all configuration files! Continue? [confirm]",
  );
  if (answer.trim() !== "" && !answer.trim().toLowerCase().startsWith("y")) return;
  router.startup = "";
  touched(net);
  io.print("[OK]\nErase of nvram: complete\n");
}

async function reload(context: ExecContext): Promise<void> {
  const { router, io, session } = context;
  if (router.dirty) {
    const answer = await io.ask("\nSystem configuration has been modified. Save? [yes/no]: ");
    if (/^y/i.test(answer.trim())) save(context);
  }
  const answer = await io.ask("Proceed with reload? [confirm]");
  if (answer.trim() === "" || /^y/i.test(answer.trim())) session.rebooting = true;
}

async function clearOspf({ net, router, io }: ExecContext): Promise<void> {
  const answer = await io.ask("Reset ALL OSPF processes? [no]: ");
  if (!/^y/i.test(answer.trim())) return;
  if (router.ospf) router.ospf.chosenId = null;
  touched(net);
}

const leave: ExecCommand["run"] = ({ session }) => void (session.loggedOut = true);

export const EXEC_COMMANDS: readonly ExecCommand[] = [
  ...SHOW_COMMANDS,
  ...REACH_COMMANDS,
  { pattern: "clear arp-cache", run: ({ router }) => router.arp.clear() },
  { pattern: "clear ip ospf process", run: clearOspf },
  { pattern: "configure terminal", run: ({ session }) => void (session.configuring = true) },
  {
    pattern: "configure",
    async run({ session, io }) {
      const from = await io.ask("Configuring from terminal, memory, or network [terminal]? ");
      if ("terminal".startsWith(from.trim().toLowerCase())) session.configuring = true;
      else io.print("The practice router is configured from the terminal only.\n");
    },
  },
  {
    pattern: "copy running-config startup-config",
    async run(context) {
      await context.io.ask("Destination filename [startup-config]? ");
      save(context);
    },
  },
  { pattern: "disable", run: ({ session }) => void (session.privileged = false) },
  { pattern: "enable", run: ({ session }) => void (session.privileged = true) },
  { pattern: "erase startup-config", run: erase },
  { pattern: "exit", run: leave },
  { pattern: "logout", run: leave },
  { pattern: "quit", run: leave },
  { pattern: "no debug all", run: ({ io }) => io.print("All possible debugging has been turned off\n") },
  { pattern: "undebug all", run: ({ io }) => io.print("All possible debugging has been turned off\n") },
  { pattern: "reload", run: reload },
  { pattern: "terminal length <num>", run: ({ session }, [lines]) => void (session.length = Number(lines)) },
  { pattern: "terminal width <num>", run: () => {} },
  { pattern: "terminal monitor", run: ({ io }) => io.print("% Console already monitors\n") },
  { pattern: "terminal no monitor", run: () => {} },
  { pattern: "write", run: save },
  { pattern: "write erase", run: erase },
  { pattern: "write memory", run: save },
];

const USER_WORDS = ["enable", "exit", "logout", "ping", "quit", "show", "terminal", "traceroute"];

/** The commands of user mode (`R1>`): looking and testing, and not at configurations. */
export const USER_COMMANDS: readonly ExecCommand[] = EXEC_COMMANDS.filter(({ pattern }) =>
  USER_WORDS.includes(pattern.split(" ")[0] ?? "") && !pattern.includes("-config")
);
