// What routers report on their own: links and OSPF neighbours that come and go, in the words of IOS's log.
import { formatAddress } from "./address.ts";
import { isUp, type Router } from "./device.ts";
import { isLineUp } from "./layer2.ts";
import { announce, type Network } from "./network.ts";
import { neighboursOf } from "./ospf.ts";

const LOG_LINES = 200;

interface Seen {
  boots: number;
  admin: Set<string>;
  lines: Set<string>;
  /** Neighbour and interface, `10.0.12.2 on FastEthernet0/1`. */
  neighbours: Set<string>;
}

/** Lets the routers of this lab notice changes from now on. */
export function watchRouters(net: Network): void {
  const known = new Map<string, Seen>();
  net.listeners.add((change) => {
    if (change.type === "removed") known.delete(change.device);
    if (change.type !== "lab") return;
    for (const device of net.devices.values()) {
      if (device.kind !== "router") continue;
      const before = known.get(device.id);
      if (!isUp(device)) {
        if (device.power === "stopped") known.delete(device.id);
        continue;
      }
      const after = look(net, device);
      known.set(device.id, after);
      // What is up at the end of a boot is no news.
      if (!before || before.boots !== after.boots) continue;
      for (const text of differences(device, before, after)) {
        report(net, device, text);
      }
    }
  });
}

/** Writes a line into the router's log and onto its console. */
export function report(net: Network, router: Router, text: string): void {
  const line = `*${stamp(net.now())}: ${text}`;
  router.journal = [...router.journal.slice(1 - LOG_LINES), line];
  announce(net, { type: "log", device: router.id, text: line });
}

function look(net: Network, router: Router): Seen {
  return {
    boots: router.boots,
    admin: new Set(router.interfaces.filter((i) => !i.shutdown).map((i) => i.name)),
    lines: new Set(router.interfaces.filter((i) => isLineUp(net, router, i)).map((i) => i.name)),
    neighbours: new Set(
      neighboursOf(net, router).filter((n) => n.state.startsWith("FULL"))
        .map((n) => `${formatAddress(n.routerId)} on ${n.iface.name}`),
    ),
  };
}

function differences(router: Router, before: Seen, after: Seen): string[] {
  const news: string[] = [];
  const process = router.ospf?.id ?? 1;
  for (const peer of before.neighbours) {
    if (after.neighbours.has(peer)) continue;
    const down = !after.lines.has(peer.split(" on ")[1] ?? "");
    const why = down ? "Interface down or detached" : "Dead timer expired";
    news.push(`%OSPF-5-ADJCHG: Process ${process}, Nbr ${peer} from FULL to DOWN, Neighbor Down: ${why}`);
  }
  for (const { name, socket } of router.interfaces) {
    if (socket !== null && before.admin.has(name) !== after.admin.has(name)) {
      const up = after.admin.has(name);
      news.push(
        up
          ? `%LINK-3-UPDOWN: Interface ${name}, changed state to up`
          : `%LINK-5-CHANGED: Interface ${name}, changed state to administratively down`,
      );
    }
    if (before.lines.has(name) !== after.lines.has(name)) {
      const state = after.lines.has(name) ? "up" : "down";
      news.push(`%LINEPROTO-5-UPDOWN: Line protocol on Interface ${name}, changed state to ${state}`);
    }
  }
  for (const peer of after.neighbours) {
    if (!before.neighbours.has(peer)) {
      news.push(`%OSPF-5-ADJCHG: Process ${process}, Nbr ${peer} from LOADING to FULL, Loading Done`);
    }
  }
  return news;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `Nov 30 13:14:00.123`, as IOS stamps its log. */
export function stamp(ms: number): string {
  const date = new Date(ms);
  const day = String(date.getUTCDate()).padStart(2);
  return `${MONTHS[date.getUTCMonth()]} ${day} ${date.toISOString().slice(11, 23)}`;
}
