// Configuration commands inside `interface …`.
import { bitsOf, formatAddress, isHostAddress, maskOf, networkOf, parseAddress } from "./address.ts";
import type { RouterInterface } from "./device.ts";
import { overlapping } from "./router.ts";
import type { ConfigCommand, ConfigSession } from "./router_config.ts";

function setAddress(
  session: ConfigSession,
  iface: RouterInterface,
  addressText: string,
  maskText: string,
): void {
  const address = parseAddress(addressText) ?? 0;
  const mask = parseAddress(maskText) ?? 0;
  const bits = bitsOf(mask);
  if (bits === null || bits === 0) {
    return session.print(`Bad mask 0x${mask.toString(16).toUpperCase()} for address ${addressText}\n`);
  }
  if (!isHostAddress(address, bits)) {
    return session.print(
      address >>> 24 >= 224
        ? `Not a valid host address - ${addressText}\n`
        : `Bad mask /${bits} for address ${addressText}\n`,
    );
  }
  const other = overlapping(session.router, iface, address, bits);
  if (other) {
    const network = networkOf(address, Math.min(bits, other.bits));
    return session.print(`% ${formatAddress(network)} overlaps with ${other.name}\n`);
  }
  Object.assign(iface, { address, bits, method: session.method });
  session.router.arp.clear();
}

/** A command that works on the interface the session is in. */
function onInterface(
  pattern: string,
  run: (iface: RouterInterface, args: string[], session: ConfigSession) => void,
): ConfigCommand {
  return {
    pattern,
    run(session, args) {
      if (session.iface) run(session.iface, args, session);
    },
  };
}

const nothing = () => {};

export const INTERFACE_COMMANDS: readonly ConfigCommand[] = [
  onInterface("ip address <addr> <mask>", (iface, [address, mask], session) => {
    setAddress(session, iface, address ?? "", mask ?? "");
  }),
  ...["no ip address", "no ip address <addr> <mask>"].map((pattern) =>
    onInterface(pattern, (iface, [address, mask], session) => {
      const same = iface.address !== null && address === formatAddress(iface.address) &&
        mask === formatAddress(maskOf(iface.bits));
      if (address !== undefined && !same) return session.print("% Invalid address\n");
      Object.assign(iface, { address: null, bits: 0, method: "unset" });
    })
  ),
  onInterface("shutdown", (iface) => void (iface.shutdown = true)),
  onInterface("no shutdown", (iface) => void (iface.shutdown = false)),
  onInterface("description <line>", (iface, [text]) => void (iface.description = text ?? "")),
  onInterface("no description", (iface) => void (iface.description = "")),
  onInterface("ip ospf cost <num>", (iface, [cost]) => void (iface.ospfCost = Number(cost))),
  onInterface("no ip ospf cost", (iface) => void (iface.ospfCost = null)),
  onInterface("ip ospf hello-interval <num>", (iface, [seconds]) => void (iface.ospfHello = Number(seconds))),
  onInterface("no ip ospf hello-interval", (iface) => void (iface.ospfHello = null)),
  onInterface("ip ospf <num> area <num>", (iface, [process, area], { router }) => {
    iface.ospfArea = { process: Number(process), area: Number(area) };
    router.ospf ??= {
      id: Number(process),
      routerId: null,
      chosenId: null,
      networks: [],
      passive: new Set(),
      passiveDefault: false,
    };
  }),
  onInterface("no ip ospf <num> area <num>", (iface) => void (iface.ospfArea = null)),
  // The practice router has no proxy ARP and one kind of port, so these are understood and change nothing.
  ...["no ip proxy-arp", "duplex auto", "speed auto"].map((pattern) => onInterface(pattern, nothing)),
];
