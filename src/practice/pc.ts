// A virtual PC: its startup file, the `ip` command and its check for duplicate addresses.
import { formatAddress, isHostAddress, maskOf, parseAddress, parseMask, sameNetwork } from "./address.ts";
import { macAddress, type Pc } from "./device.ts";
import { ownersOf } from "./layer2.ts";
import type { Network } from "./network.ts";

/** A PC that is switched off. `number` makes its hardware address unlike the others'. */
export function createPc(id: string, name: string, number: number, startup: string | null): Pc {
  return {
    kind: "pc",
    id,
    name,
    power: "stopped",
    boots: 0,
    sockets: [{ name: "Ethernet0", shortName: "e0", adapter: 0, port: 0 }],
    mac: macAddress("00:50:79", 0x666800 + (number & 255)),
    pcname: "VPCS",
    address: 0,
    bits: 0,
    gateway: 0,
    arp: new Map(),
    startup,
  };
}

/** The script that a PC made from a template starts with. */
export function baseScript(name: string): string {
  return `# This the configuration file for ${name} of the practice lab.\nset pcname ${name}\n`;
}

export interface IpSettings {
  address: number;
  bits: number;
  gateway: number;
}

/** Reads the arguments of `ip`: `A[/M] [G]`, or gateway and mask in either order. A string is VPCS's complaint. */
export function parseIp(args: string[]): IpSettings | string {
  const [first = "", ...rest] = args;
  const [text = "", slash] = first.split("/");
  const address = parseAddress(text);
  if (address === null) return "Invalid address";
  let bits: number | null = slash === undefined ? null : parseMask(slash);
  if (slash !== undefined && bits === null) return "Invalid mask";
  let gateway = 0;
  for (const word of rest) {
    const mask = parseMask(word);
    const other = parseAddress(word);
    if (mask !== null && bits === null && other !== 0) bits = mask;
    else if (other !== null) gateway = other;
    else return "Invalid options";
  }
  bits ??= 24;
  if (!isHostAddress(address, bits)) return "Invalid address";
  if (gateway !== 0 && !sameNetwork(address, gateway, bits)) return "not same subnet";
  if (gateway === address) return "Invalid gateway address";
  return { address, bits, gateway };
}

/** Takes new settings unless another device answers for the address; then the PC is left without one, as VPCS leaves it. */
export function applyIp(
  net: Network,
  pc: Pc,
  settings: IpSettings,
): { ok: true } | { ok: false; mac: string } {
  pc.arp.clear();
  const owner = ownersOf(net, pc.id, 0, settings.address)[0]?.device;
  if (owner && owner.kind !== "switch") {
    Object.assign(pc, { address: 0, bits: 0, gateway: 0 });
    const mac = owner.kind === "pc"
      ? owner.mac
      : owner.interfaces.find((i) => i.address === settings.address)?.mac ?? "";
    return { ok: false, mac };
  }
  Object.assign(pc, settings);
  return { ok: true };
}

/** `PC1 : 10.0.1.10 255.255.255.0 gateway 10.0.1.1`; VPCS says "PC1" here whatever the PC is called. */
export function settingsLine({ address, bits, gateway }: IpSettings): string {
  const line = `PC1 : ${formatAddress(address)} ${formatAddress(maskOf(bits))}`;
  return gateway ? `${line} gateway ${formatAddress(gateway)}` : line;
}

/** What `save` writes. */
export function startupOf(pc: Pc): string {
  const lines = [`set pcname ${pc.pcname}`];
  if (pc.address) {
    const gateway = pc.gateway ? ` ${formatAddress(pc.gateway)}` : "";
    lines.push(`ip ${formatAddress(pc.address)}${gateway} ${pc.bits}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Switched on: everything forgotten, then the startup file line by line. Lines it does not know are skipped. */
export function bootPc(net: Network, pc: Pc): void {
  Object.assign(pc, { pcname: "VPCS", address: 0, bits: 0, gateway: 0 });
  for (const line of (pc.startup ?? "").split(/\r?\n/)) {
    const [command = "", ...args] = line.trim().split(/\s+/);
    if (command === "set" && args[0] === "pcname" && args[1]) pc.pcname = args[1];
    if (command === "ip") {
      const settings = parseIp(args);
      if (typeof settings !== "string") applyIp(net, pc, settings);
    }
  }
}

/** The startup file after the node was renamed: GNS3 changes the name inside it too. */
export function renamedScript(script: string, name: string): string {
  return script.replace(/^set pcname .*$/m, `set pcname ${name}`);
}
