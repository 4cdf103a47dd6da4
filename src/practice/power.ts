// Switches devices of the practice lab on and off, and lets them read their startup files.
import type { Power } from "./device.ts";
import { announce, type Network, touched } from "./network.ts";
import { bootPc } from "./pc.ts";
import { bootRouter } from "./router_config.ts";

/** Switches a device on, off or to sleep. Switching on reads its startup file; switching off loses what was not saved. */
export function setPower(net: Network, id: string, power: Power): void {
  const device = net.devices.get(id);
  if (!device || device.kind === "switch" || device.power === power) return;
  const wakes = device.power === "suspended" && power === "started";
  device.power = power;
  if (power === "started" && !wakes) {
    device.boots++;
    device.arp.clear();
    if (device.kind === "pc") bootPc(net, device);
    else bootRouter(net, device);
  }
  announce(net, { type: "power", device: id, power });
  touched(net);
}

/** Off and on again. */
export function restart(net: Network, id: string): void {
  setPower(net, id, "stopped");
  setPower(net, id, "started");
}
