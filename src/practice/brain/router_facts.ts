// Reads what an IOS-like router printed about its interfaces, neighbours and routes.
import { networkOf, parseAddress } from "../address.ts";
import type { CommandOutput } from "./evidence.ts";

export interface RouterPort {
  name: string;
  /** "" when it has none. */
  address: string;
  status: string;
  protocol: string;
}

export interface RouterNeighbour {
  id: string;
  state: string;
  address: string;
  port: string;
}

export interface RouterRoute {
  network: number;
  bits: number;
  line: string;
}

export interface RouterFacts {
  ports: RouterPort[] | null;
  neighbours: RouterNeighbour[] | null;
  routes: RouterRoute[] | null;
}

/** Everything that the outputs of one router tell; null for what was not asked. */
export function routerFacts(outputs: CommandOutput[]): RouterFacts {
  const last = (pattern: RegExp) =>
    outputs.findLast(({ command, error }) => pattern.test(command) && !error)?.output;
  const ports = last(/ip int\S* br/);
  const neighbours = last(/ip ospf nei/);
  const routes = last(/ip route/);
  return {
    ports: ports === undefined ? null : portsIn(ports),
    neighbours: neighbours === undefined ? null : neighboursIn(neighbours),
    routes: routes === undefined ? null : routesIn(routes),
  };
}

function portsIn(text: string): RouterPort[] {
  const row =
    /^(\S+)\s+(unassigned|[\d.]+)\s+(?:YES|NO)\s+\S+\s+(administratively down|up|down)\s+(up|down)/gm;
  return [...text.matchAll(row)].map(([, name, address, status, protocol]) => ({
    name: name!,
    address: address === "unassigned" ? "" : address!,
    status: status!,
    protocol: protocol!,
  }));
}

function neighboursIn(text: string): RouterNeighbour[] {
  const row = /^([\d.]+)\s+\d+\s+(\S+)\s+\S+\s+([\d.]+)\s+(\S+)/gm;
  return [...text.matchAll(row)].map(([, id, state, address, port]) => ({
    id: id!,
    state: state!,
    address: address!,
    port: port!,
  }));
}

function routesIn(text: string): RouterRoute[] {
  const row = /^[A-Z][A-Z* ]*\s+([\d.]+)\/(\d+)\s.*$/gm;
  return [...text.matchAll(row)].map(([line, network, bits]) => ({
    network: parseAddress(network!) ?? 0,
    bits: Number(bits),
    line: line.trim().replaceAll(/\s+/g, " "),
  })).filter(({ line }) => /directly connected| via /.test(line));
}

/** True when some route covers the address. */
export function hasRoute(routes: RouterRoute[], address: string): boolean {
  const value = parseAddress(address);
  return value !== null && routes.some(({ network, bits }) => networkOf(value, bits) === network);
}

/** Compares port names as they stand in outputs. */
export function samePort(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
