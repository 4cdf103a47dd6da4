// What the tests of the practice lab share: the default lab with its consoles, and the practice GNS3 server as a user has it.
import { parseAddress } from "../../src/practice/address.ts";
import { buildDefaultLab, createLab } from "../../src/practice/default_lab.ts";
import type { Pc, Router } from "../../src/practice/device.ts";
import { probe, type ProbeResult } from "../../src/practice/forwarding.ts";
import {
  type PracticeGns3,
  type PracticeGns3Options,
  startPracticeGns3,
} from "../../src/practice/gns3_server.ts";
import { LabConsoles } from "../../src/practice/lab_consoles.ts";
import type { Network } from "../../src/practice/network.ts";
import { QUICK_TIMING, type Timing } from "../../src/practice/timing.ts";
import { TelnetClient } from "./telnet_client.ts";

export const FAST: Timing = {
  ...QUICK_TIMING,
  pingInterval: 5,
  replyTimeout: 10,
  arpTimeout: 15,
  addressCheck: 10,
  routerTimeout: 10,
  routerBoot: 10,
};

/** The default lab without consoles; ids are names. */
export function defaultLab(): Network {
  const net = createLab();
  buildDefaultLab(net);
  return net;
}

export function pc(net: Network, name: string): Pc {
  return net.devices.get(name) as Pc;
}

export function router(net: Network, name: string): Router {
  return net.devices.get(name) as Router;
}

/** One ping from a device of the lab. */
export function ping(net: Network, from: string, to: string): ProbeResult {
  return probe(net, net.devices.get(from) as Pc | Router, parseAddress(to)!);
}

/** Runs `work` with the default lab and a connected, awake console of one of its devices. */
export async function onConsole(
  name: string,
  work: (console: TelnetClient, net: Network, consoles: LabConsoles) => Promise<void>,
  options: { logMessages?: boolean; timing?: Partial<Timing> } = {},
): Promise<void> {
  const net = createLab();
  const consoles = new LabConsoles(net, { ...FAST, ...options.timing }, {
    logMessages: options.logMessages ?? false,
  });
  buildDefaultLab(net);
  const client = await TelnetClient.connect(consoles.of(name)!.port);
  try {
    await client.wake();
    await work(client, net, consoles);
  } finally {
    await client.close();
    await consoles.close();
  }
}

/** Calls the practice server as one of its users; the body is JSON or, when it is none, its text. */
export interface Api {
  gns3: PracticeGns3;
  /** `/v3/projects/<the default lab>` */
  at: string;
  call(
    method: string,
    path: string,
    body?: unknown,
    user?: string,
  ): Promise<{ status: number; body: unknown; headers: Headers }>;
  console(name: string): Promise<TelnetClient>;
}

/** Runs `work` against a practice server. */
export async function withGns3(
  options: PracticeGns3Options,
  work: (api: Api) => Promise<void>,
): Promise<void> {
  const gns3 = await startPracticeGns3({ timing: FAST, logMessages: false, ...options });
  const open: TelnetClient[] = [];
  const api: Api = {
    gns3,
    at: `/v3/projects/${gns3.projectId}`,
    async call(method, path, body, user = "alice") {
      const response = await fetch(gns3.url + path, {
        method,
        headers: user ? { authorization: `Bearer ${gns3.tokens[user]}` } : {},
        body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
      });
      const text = await response.text();
      let value: unknown = text;
      try {
        value = text === "" ? null : JSON.parse(text);
      } catch {
        // Not JSON: a file.
      }
      return { status: response.status, body: value, headers: response.headers };
    },
    async console(name) {
      const node = gns3.nodeId(name);
      const client = await TelnetClient.connect(gns3.project(gns3.projectId).consoles.of(node)!.port);
      open.push(client);
      await client.wake();
      return client;
    },
  };
  try {
    await work(api);
  } finally {
    for (const client of open) await client.close();
    await gns3.close();
  }
}
