// The lab that the demo starts with: PC1 – R1 – R2 – PC2, with OSPF between the routers.
import { type Device, isUp } from "./device.ts";
import { addDevice, connect, createNetwork, type Network } from "./network.ts";
import { createPc } from "./pc.ts";
import { setPower } from "./power.ts";
import { createRouter } from "./router.ts";
import { watchRouters } from "./router_journal.ts";

/** One device of a lab plan; `x` and `y` place it on GNS3's canvas. */
export interface Plan {
  name: string;
  kind: "pc" | "router";
  x: number;
  y: number;
  startup: string;
}

function pcScript(name: string, address: string, gateway: string): string {
  return `set pcname ${name}\nip ${address} ${gateway}\n`;
}

function routerConfig(name: string, lan: string, wan: string): string {
  const network = lan.replace(/\.\d+$/, ".0");
  return [
    "!",
    `hostname ${name}`,
    "!",
    "interface FastEthernet0/0",
    " description LAN",
    ` ip address ${lan} 255.255.255.0`,
    " no shutdown",
    "!",
    "interface FastEthernet0/1",
    " description link between R1 and R2",
    ` ip address ${wan} 255.255.255.252`,
    " no shutdown",
    "!",
    "router ospf 1",
    ` network ${network} 0.0.0.255 area 0`,
    " network 10.0.12.0 0.0.0.3 area 0",
    "!",
    "end",
    "",
  ].join("\n");
}

export const DEFAULT_LAB: readonly Plan[] = [
  { name: "PC1", kind: "pc", x: -450, y: 0, startup: pcScript("PC1", "10.0.1.10/24", "10.0.1.1") },
  { name: "R1", kind: "router", x: -150, y: 0, startup: routerConfig("R1", "10.0.1.1", "10.0.12.1") },
  { name: "R2", kind: "router", x: 150, y: 0, startup: routerConfig("R2", "10.0.2.1", "10.0.12.2") },
  { name: "PC2", kind: "pc", x: 450, y: 0, startup: pcScript("PC2", "10.0.2.10/24", "10.0.2.1") },
];

/** Cables as pairs of device name and socket index. */
export const DEFAULT_CABLES: readonly [[string, number], [string, number]][] = [
  [["PC1", 0], ["R1", 0]],
  [["R1", 1], ["R2", 1]],
  [["R2", 0], ["PC2", 0]],
];

/** An empty lab whose routers notice what happens to their links. */
export function createLab(options: { now?: () => number; random?: () => number } = {}): Network {
  const net = createNetwork(options);
  watchRouters(net);
  return net;
}

/** Makes the device of a plan; it is off. */
export function deviceOf(plan: Pick<Plan, "name" | "kind" | "startup">, id: string, number: number): Device {
  return plan.kind === "pc"
    ? createPc(id, plan.name, number, plan.startup)
    : createRouter(id, plan.name, number, plan.startup);
}

/** Builds the default lab into `net`, with device names as ids, and switches everything on. For use without GNS3. */
export function buildDefaultLab(net: Network): void {
  DEFAULT_LAB.forEach((plan, index) => addDevice(net, deviceOf(plan, plan.name, index + 1)));
  DEFAULT_CABLES.forEach(([[a, as], [b, bs]], index) =>
    connect(net, `cable-${index + 1}`, { device: a, socket: as }, { device: b, socket: bs })
  );
  for (const device of net.devices.values()) if (!isUp(device)) setPower(net, device.id, "started");
}
