// The command line of a practice router: modes, prompts, complaints, log in and out, as on an IOS console.
import type { Router } from "./device.ts";
import { match, type Matched, nextWords } from "./grammar.ts";
import { type Network, touched } from "./network.ts";
import { bootRouter, commandsOf, type ConfigSession, configure } from "./router_config.ts";
import { EXEC_COMMANDS, type ExecCommand, type ExecSession, USER_COMMANDS } from "./router_exec.ts";
import { report } from "./router_journal.ts";
import { applyFilter, page, splitPipe } from "./router_pager.ts";
import type { Shell, ShellIo } from "./terminal.ts";
import type { Timing } from "./timing.ts";

const PAGE_LENGTH = 24;

/** The shell of a router that has just been switched on. */
export function routerShell(net: Network, router: Router, timing: Timing): Shell {
  const session: ExecSession = {
    privileged: true,
    configuring: false,
    loggedOut: false,
    rebooting: false,
    length: PAGE_LENGTH,
  };
  let config: ConfigSession | null = null;

  const prompt = () => {
    if (config?.banner) return "";
    if (config) return `${router.hostname.slice(0, 20)}(${config.mode})#`;
    return `${router.hostname}${session.privileged ? "#" : ">"}`;
  };

  const exec = async (commands: readonly ExecCommand[], line: string, shift: number, io: ShellIo) => {
    const { command, filter } = splitPipe(line);
    const matched = match(commands, command);
    if ("error" in matched) return io.print(complaint(matched, shift, line));
    const show = async (text: string) => {
      const filtered = filter === null ? text : applyFilter(text, filter);
      if (filtered === null) return io.print(invalid(shift + line.indexOf("|") + 2));
      await page(filtered, session.length, io);
    };
    await matched.command.run({ net, router, timing, io, page: show, session }, matched.args);
  };

  const endConfiguring = () => {
    config = null;
    session.configuring = false;
    report(net, router, "%SYS-5-CONFIG_I: Configured from console by console");
  };

  const configureLine = async (current: ConfigSession, line: string, io: ShellIo) => {
    const word = line.trim().toLowerCase();
    const shift = prompt().length;
    if (!current.banner) {
      if (word === "") return;
      if (word === "end") return endConfiguring();
      if ("exit".startsWith(word) && word.length > 1) {
        if (current.mode === "config") return endConfiguring();
        Object.assign(current, { mode: "config", iface: null });
        return;
      }
      const show = /^\s*do\s+/i.exec(line);
      if (show) return await exec(EXEC_COMMANDS, line.slice(show[0].length), shift + show[0].length, io);
    }
    current.print = io.print;
    const refused = configure(current, line);
    if (refused) return io.print(complaint(refused, shift, line));
    router.dirty = true;
    touched(net);
  };

  const logOut = async (io: ShellIo) => {
    session.loggedOut = false;
    session.privileged = true;
    io.print(
      `\n\n\n\n\n\n${router.hostname} con0 is now available\n\n\n\n\n\nPress RETURN to get started.\n`,
    );
    await pressReturn(io);
  };

  const pressReturn = async (io: ShellIo) => {
    while (await io.key() !== "\r");
    io.print(`\n${router.banner ? `${router.banner}\n` : ""}`);
  };

  const start = async (io: ShellIo) => {
    io.print("\nPractice router: starting, reading the startup configuration ...\n");
    await io.pause(timing.routerBoot);
    io.print("\nPress RETURN to get started!\n\n");
    await pressReturn(io);
  };

  const reboot = async (io: ShellIo) => {
    Object.assign(session, { rebooting: false, privileged: true, length: PAGE_LENGTH });
    router.boots++;
    bootRouter(net, router);
    touched(net);
    await start(io);
  };

  return {
    interruptKey: "\x1e",
    interruptEcho: "\n",
    doubleEnter: true,
    prompt,
    boot: start,
    control(key) {
      if (config && !config.banner) endConfiguring();
      return key === "\x1a" ? "^Z\n" : "\n";
    },
    help(line) {
      const words = config
        ? nextWords(commandsOf(config), line)
        : nextWords(session.privileged ? EXEC_COMMANDS : USER_COMMANDS, line);
      if (words.length === 0) return "% Unrecognized command\n";
      return `${
        words.map((word) =>
          `  ${word.startsWith("<") && word !== "<cr>" ? word.slice(1, -1).toUpperCase() : word}\n`
        ).join("")
      }\n`;
    },
    async run(line, io) {
      if (config) return await configureLine(config, line, io);
      if (line.trim() === "" || line.trim().startsWith("!")) return;
      await exec(session.privileged ? EXEC_COMMANDS : USER_COMMANDS, line, prompt().length, io);
      if (session.rebooting) return await reboot(io);
      if (session.loggedOut) return await logOut(io);
      if (session.configuring) {
        io.print("Enter configuration commands, one per line.  End with CNTL/Z.\n");
        config = {
          net,
          router,
          mode: "config",
          iface: null,
          banner: null,
          method: "manual",
          print: io.print,
        };
      }
    },
  };
}

function invalid(column: number): string {
  return `${" ".repeat(column)}^\n% Invalid input detected at '^' marker.\n\n`;
}

function complaint(
  refused: Extract<Matched<unknown>, { error: string }>,
  shift: number,
  line: string,
): string {
  if (refused.error === "invalid") return invalid(shift + refused.at);
  return refused.error === "ambiguous"
    ? `% Ambiguous command:  "${line.trim()}"\n`
    : "% Incomplete command.\n\n";
}
