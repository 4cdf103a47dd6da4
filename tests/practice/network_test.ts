// How packets get through the simulated lab, and how they fail.
import assert from "node:assert/strict";
import { parseAddress } from "../../src/practice/address.ts";
import { createLab, deviceOf } from "../../src/practice/default_lab.ts";
import { addDevice, changeCable, connect, disconnect } from "../../src/practice/network.ts";
import { neighboursOf } from "../../src/practice/ospf.ts";
import { applyIp, type IpSettings, parseIp } from "../../src/practice/pc.ts";
import { restart, setPower } from "../../src/practice/power.ts";
import { routingTable } from "../../src/practice/routing.ts";
import { formatPrefix } from "../../src/practice/address.ts";
import { defaultLab, pc, ping, router } from "./lab.ts";

const at = (text: string) => parseAddress(text)!;

Deno.test("a ping through two routers comes back with a time to live of 62, one from a router with 255", () => {
  const net = defaultLab();
  const far = ping(net, "PC1", "10.0.2.10");
  assert.deepEqual({ ...far, ms: 0 }, { kind: "reply", from: at("10.0.2.10"), ttl: 62, ms: 0 });
  const near = ping(net, "PC1", "10.0.1.1");
  assert.equal(near.kind === "reply" && near.ttl, 255);
  assert.equal(ping(net, "R1", "10.0.2.10").kind, "reply");
});

Deno.test("without its cable a PC finds nobody; without the one between the routers R1 has no route", () => {
  const net = defaultLab();
  disconnect(net, "cable-2");
  assert.deepEqual({ ...ping(net, "PC1", "10.0.2.10"), ms: 0 }, {
    kind: "error",
    from: at("10.0.1.1"),
    ttl: 255,
    ms: 0,
    type: 3,
    code: 1,
  });
  disconnect(net, "cable-1");
  assert.deepEqual(ping(net, "PC1", "10.0.2.10"), { kind: "no_arp", address: at("10.0.1.1") });
});

Deno.test("a cable that is suspended or filtered completely carries nothing, and comes back", () => {
  const net = defaultLab();
  const cable = net.cables.get("cable-1")!;
  changeCable(net, cable, { suspended: true });
  assert.deepEqual(ping(net, "PC1", "10.0.1.1"), { kind: "no_arp", address: at("10.0.1.1") });
  changeCable(net, cable, { suspended: false, filters: { packet_loss: [100] } });
  assert.equal(ping(net, "PC1", "10.0.1.1").kind, "no_arp");
  changeCable(net, cable, { filters: { bpf: ["icmp"] } });
  assert.equal(ping(net, "PC1", "10.0.1.1").kind, "timeout", "ARP passes, ICMP does not");
  changeCable(net, cable, { filters: { frequency_drop: [2] } });
  const kinds = [1, 2, 3, 4].map(() => ping(net, "PC1", "10.0.1.1").kind);
  assert.ok(
    kinds.every((kind) => kind === "timeout"),
    "request and answer cross the cable: every second packet is an answer",
  );
  changeCable(net, cable, { filters: { delay: [100, 0] } });
  const slow = ping(net, "PC1", "10.0.1.1");
  assert.ok(slow.kind === "reply" && slow.ms > 200 && slow.ms < 202, "there and back");
  changeCable(net, cable, { filters: {} });
  assert.equal(ping(net, "PC1", "10.0.2.10").kind, "reply");
});

Deno.test("a stopped router is silent: unknown to a PC that never met it, lost packets for one that remembers it", () => {
  const fresh = defaultLab();
  setPower(fresh, "R1", "stopped");
  assert.equal(ping(fresh, "PC1", "10.0.2.10").kind, "no_arp");
  const met = defaultLab();
  assert.equal(ping(met, "PC1", "10.0.2.10").kind, "reply");
  setPower(met, "R1", "stopped");
  assert.equal(ping(met, "PC1", "10.0.2.10").kind, "timeout");
  setPower(met, "R1", "started");
  assert.equal(ping(met, "PC1", "10.0.2.10").kind, "reply");
});

Deno.test("the answer needs a way back: a far PC without gateway, or with a wrong one, stays silent", () => {
  const net = defaultLab();
  const settings = parseIp(["10.0.2.10/24"]) as IpSettings;
  applyIp(net, pc(net, "PC2"), settings);
  assert.equal(ping(net, "PC1", "10.0.2.10").kind, "timeout");
  applyIp(net, pc(net, "PC2"), parseIp(["10.0.2.10/24", "10.0.2.9"]) as IpSettings);
  assert.equal(ping(net, "PC1", "10.0.2.10").kind, "timeout");
  applyIp(net, pc(net, "PC2"), parseIp(["10.0.2.10/24", "10.0.2.1"]) as IpSettings);
  assert.equal(ping(net, "PC1", "10.0.2.10").kind, "reply");
});

Deno.test("a PC outside its router's subnet gets no answer to ARP, one without a gateway does not send", () => {
  const net = defaultLab();
  applyIp(net, pc(net, "PC1"), parseIp(["10.0.3.10/24", "10.0.3.1"]) as IpSettings);
  assert.deepEqual(ping(net, "PC1", "10.0.2.10"), { kind: "no_arp", address: at("10.0.3.1") });
  // A mask so wide that the router seems to be near: the router does not answer a stranger.
  applyIp(net, pc(net, "PC1"), parseIp(["10.0.3.10/16", "10.0.1.1"]) as IpSettings);
  assert.equal(ping(net, "PC1", "10.0.1.1").kind, "no_arp");
  applyIp(net, pc(net, "PC1"), parseIp(["10.0.1.10/24"]) as IpSettings);
  assert.equal(ping(net, "PC1", "10.0.2.10").kind, "no_gateway");
});

Deno.test("an address that somebody else has is refused, and the PC is left without one", () => {
  const net = defaultLab();
  const taken = applyIp(net, pc(net, "PC1"), parseIp(["10.0.1.1/24"]) as IpSettings);
  assert.deepEqual(taken, { ok: false, mac: router(net, "R1").interfaces[0]!.mac });
  assert.equal(pc(net, "PC1").address, 0);
});

Deno.test("OSPF neighbours need started ends, a link that carries, the same subnet, area and hello interval", () => {
  const net = defaultLab();
  const ids = () =>
    neighboursOf(net, router(net, "R1")).map((n) => `${formatPrefix(n.routerId, 32)} ${n.state}`);
  const r2 = router(net, "R2");
  assert.deepEqual(ids(), ["10.0.12.2/32 FULL/DR"]);
  const cases: [string, () => void, () => void][] = [
    [
      "link suspended",
      () => changeCable(net, net.cables.get("cable-2")!, { suspended: true }),
      () => changeCable(net, net.cables.get("cable-2")!, { suspended: false }),
    ],
    [
      "OSPF filtered",
      () => changeCable(net, net.cables.get("cable-2")!, { filters: { bpf: ["ospf"] } }),
      () => changeCable(net, net.cables.get("cable-2")!, { filters: {} }),
    ],
    ["R2 suspended", () => setPower(net, "R2", "suspended"), () => setPower(net, "R2", "started")],
    ["other area", () => void (r2.ospf!.networks[1]!.area = 1), () => void (r2.ospf!.networks[1]!.area = 0)],
    [
      "other hello",
      () => void (r2.interfaces[1]!.ospfHello = 5),
      () => void (r2.interfaces[1]!.ospfHello = null),
    ],
    ["other mask", () => void (r2.interfaces[1]!.bits = 24), () => void (r2.interfaces[1]!.bits = 30)],
    ["passive", () => void r2.ospf!.passive.add("FastEthernet0/1"), () => r2.ospf!.passive.clear()],
    [
      "shut down",
      () => void (r2.interfaces[1]!.shutdown = true),
      () => void (r2.interfaces[1]!.shutdown = false),
    ],
    ["no statement", () => void r2.ospf!.networks.pop(), () => restart(net, "R2")],
  ];
  for (const [name, breakIt, mend] of cases) {
    breakIt();
    assert.deepEqual(ids(), [], name);
    mend();
    assert.deepEqual(ids(), ["10.0.12.2/32 FULL/DR"], `${name}, mended`);
  }
});

Deno.test("OSPF finds the cheapest way over several routers, and another one when that breaks", () => {
  const net = triangle();
  const to = () => {
    const route = routingTable(net, router(net, "R1")).find((r) => r.network === at("10.9.3.0"))!;
    return [route.code, route.metric, route.iface.name];
  };
  assert.deepEqual(to(), ["O", 2, "FastEthernet0/1"]);
  router(net, "R1").interfaces[1]!.ospfCost = 10;
  assert.deepEqual(to(), ["O", 3, "FastEthernet0/0"], "over R2");
  router(net, "R1").interfaces[1]!.ospfCost = null;
  disconnect(net, "13");
  assert.deepEqual(to(), ["O", 3, "FastEthernet0/0"]);
});

Deno.test("OSPF carries routes between areas through the backbone", () => {
  const net = createLab();
  // R1 – area 1 – R2 – area 0 – R3 – area 2 – R4
  ["R1", "R2", "R3", "R4"].forEach((name, i) => {
    const left = i === 0 ? "10.9.1.1" : `10.0.${i}.2`;
    const right = i === 3 ? "10.9.4.1" : `10.0.${i + 1}.1`;
    const areas = [[1, 1], [1, 0], [0, 2], [2, 2]][i]!;
    addDevice(
      net,
      deviceOf(
        { name, kind: "router", startup: config(name, [[left, areas[0]!], [right, areas[1]!]]) },
        name,
        i + 1,
      ),
    );
  });
  for (let i = 1; i < 4; i++) {
    connect(net, `${i}`, { device: `R${i}`, socket: 1 }, { device: `R${i + 1}`, socket: 0 });
  }
  // The outer networks need something at their other end to be up.
  addDevice(net, deviceOf({ name: "A", kind: "pc", startup: "ip 10.9.1.9/24 10.9.1.1" }, "A", 9));
  addDevice(net, deviceOf({ name: "B", kind: "pc", startup: "ip 10.9.4.9/24 10.9.4.1" }, "B", 10));
  connect(net, "a", { device: "A", socket: 0 }, { device: "R1", socket: 0 });
  connect(net, "b", { device: "B", socket: 0 }, { device: "R4", socket: 1 });
  for (const name of net.devices.keys()) setPower(net, name, "started");
  const route = routingTable(net, router(net, "R1")).find((r) => r.network === at("10.9.4.0"));
  assert.deepEqual([route?.code, route?.metric], ["O IA", 4]);
  assert.equal(ping(net, "A", "10.9.4.9").kind, "reply");
  // Without its interface in area 0, R3 no longer joins area 2 to the rest.
  router(net, "R3").ospf!.networks = router(net, "R3").ospf!.networks.filter((n) => n.area !== 0);
  assert.equal(routingTable(net, router(net, "R1")).some((r) => r.network === at("10.9.4.0")), false);
});

Deno.test("static routes count while their next hop is reachable, with the distance they were given", () => {
  const net = defaultLab();
  const r1 = router(net, "R1");
  r1.routes = [
    { network: at("10.0.2.0"), bits: 24, nextHop: at("10.0.12.2"), distance: 1 },
    { network: at("172.16.0.0"), bits: 16, nextHop: at("192.168.9.9"), distance: 1 },
  ];
  const codes = () =>
    routingTable(net, r1).filter((r) => !"CL".includes(r.code)).map((
      r,
    ) => [r.code, formatPrefix(r.network, r.bits)]);
  assert.deepEqual(codes(), [["S", "10.0.2.0/24"]], "better than OSPF; the other next hop is unknown");
  r1.routes[0]!.distance = 200;
  assert.deepEqual(codes(), [["O", "10.0.2.0/24"]]);
});

Deno.test("what was changed and not saved is lost when a device is switched off", () => {
  const net = defaultLab();
  const r1 = router(net, "R1");
  r1.interfaces[0]!.address = at("10.0.1.254");
  restart(net, "R1");
  assert.equal(r1.interfaces[0]!.address, at("10.0.1.1"));
  pc(net, "PC1").startup = "set pcname Bench\nip 10.0.1.77 10.0.1.1 24\n";
  assert.equal(pc(net, "PC1").address, at("10.0.1.10"), "a new startup file waits for the next start");
  restart(net, "PC1");
  assert.deepEqual([pc(net, "PC1").pcname, pc(net, "PC1").address], ["Bench", at("10.0.1.77")]);
});

function config(name: string, interfaces: [address: string, area: number][]): string {
  const lines = interfaces.flatMap((
    [address],
    i,
  ) => [`interface f0/${i}`, ` ip address ${address} 255.255.255.0`, " no shutdown"]);
  const networks = interfaces.map(([address, area]) => ` network ${address} 0.0.0.0 area ${area}`);
  return [`hostname ${name}`, ...lines, "router ospf 1", ...networks, "end"].join("\n");
}

/** R1, R2 and R3, each joined to both others, and a PC behind R3. */
function triangle() {
  const net = createLab();
  const configs: Record<string, string> = {
    R1: config("R1", [["10.0.12.1", 0], ["10.0.13.1", 0]]),
    R2: config("R2", [["10.0.12.2", 0], ["10.0.23.2", 0]]),
    R3: config("R3", [["10.0.13.3", 0], ["10.0.23.3", 0]]).replace(
      "router ospf 1",
      "interface f1/0\n ip address 10.9.3.1 255.255.255.0\n no shutdown\nrouter ospf 1\n network 10.9.3.0 0.0.0.255 area 0",
    ),
  };
  Object.entries(configs).forEach(([name, startup], i) =>
    addDevice(net, deviceOf({ name, kind: "router", startup }, name, i + 1))
  );
  addDevice(net, deviceOf({ name: "P", kind: "pc", startup: "ip 10.9.3.9/24 10.9.3.1" }, "P", 9));
  connect(net, "12", { device: "R1", socket: 0 }, { device: "R2", socket: 0 });
  connect(net, "13", { device: "R1", socket: 1 }, { device: "R3", socket: 0 });
  connect(net, "23", { device: "R2", socket: 1 }, { device: "R3", socket: 1 });
  connect(net, "p", { device: "R3", socket: 2 }, { device: "P", socket: 0 });
  for (const name of net.devices.keys()) setPower(net, name, "started");
  return net;
}
