// The simulation seen from outside: what is changed through the GNS3 API shows on the consoles, and the other way round.
import assert from "node:assert/strict";
import { type Api, withGns3 } from "./lab.ts";
import { TelnetClient } from "./telnet_client.ts";

// deno-lint-ignore no-explicit-any
const of = (answer: { body: unknown }): any => answer.body;

async function linkBetween(api: Api, a: string, b: string): Promise<string> {
  const links = of(await api.call("GET", `${api.at}/links`)) as {
    link_id: string;
    nodes: { node_id: string }[];
  }[];
  const ids = [api.gns3.nodeId(a), api.gns3.nodeId(b)];
  return links.find(({ nodes }) => nodes.every(({ node_id }) => ids.includes(node_id)))!.link_id;
}

Deno.test("a link that is removed takes the ping and the OSPF neighbour with it; a new one brings both back", async () => {
  await withGns3({}, async (api) => {
    const pc = await api.console("PC1");
    const router = await api.console("R1");
    assert.match(await pc.run("ping 10.0.2.10 -c 1"), /^84 bytes/);
    assert.match(await router.run("show ip ospf neighbor"), /FULL/);
    await api.call("DELETE", `${api.at}/links/${await linkBetween(api, "R1", "R2")}`);
    assert.match(await pc.run("ping 10.0.2.10 -c 1"), /^\*10\.0\.1\.1 .*Destination host unreachable\)$/);
    assert.doesNotMatch(await router.run("show ip ospf neighbor"), /FULL/);
    const end = (name: string) => ({ node_id: api.gns3.nodeId(name), adapter_number: 0, port_number: 1 });
    assert.equal((await api.call("POST", `${api.at}/links`, { nodes: [end("R1"), end("R2")] })).status, 201);
    assert.match(await router.run("show ip ospf neighbor"), /FULL/);
    assert.match(await pc.run("ping 10.0.2.10 -c 1"), /^84 bytes/);
  });
});

Deno.test("a suspended link, a packet filter and a stopped router all stop the ping", async () => {
  await withGns3({}, async (api) => {
    const pc = await api.console("PC1");
    const link = `${api.at}/links/${await linkBetween(api, "R1", "R2")}`;
    assert.equal(of(await api.call("PUT", link, { suspend: true })).suspend, true);
    assert.doesNotMatch(await pc.run("ping 10.0.2.10 -c 1"), /bytes/);
    await api.call("PUT", link, { suspend: false });
    assert.match(await pc.run("ping 10.0.2.10 -c 1"), /bytes/);
    const filters = of(await api.call("GET", `${link}/available_filters`)) as { type: string }[];
    assert.deepEqual(filters.map(({ type }) => type), [
      "frequency_drop",
      "packet_loss",
      "delay",
      "corrupt",
      "bpf",
    ]);
    assert.deepEqual(of(await api.call("PUT", link, { filters: { bpf: ["icmp"] } })).filters, {
      bpf: ["icmp"],
    });
    assert.equal(await pc.run("ping 10.0.2.10 -c 1"), "10.0.2.10 icmp_seq=1 timeout");
    assert.equal((await api.call("PUT", link, { filters: { bpf: ["tcp port 80"] } })).status, 409);
    await api.call("PUT", link, { filters: {} });
    await api.call("POST", `${api.at}/nodes/${api.gns3.nodeId("R2")}/stop`, {});
    assert.doesNotMatch(await pc.run("ping 10.0.2.10 -c 1"), /bytes/);
    await api.call("POST", `${api.at}/nodes/${api.gns3.nodeId("R2")}/start`, {});
    assert.match(await pc.run("ping 10.0.2.10 -c 1"), /bytes/);
  });
});

Deno.test("a startup file written through the API counts from the next start; saving on the device writes it", async () => {
  await withGns3({}, async (api) => {
    const node = (name: string) => `${api.at}/nodes/${api.gns3.nodeId(name)}`;
    const file = `${node("PC1")}/files/startup.vpc`;
    assert.equal(of(await api.call("GET", file)), "set pcname PC1\nip 10.0.1.10/24 10.0.1.1\n");
    assert.equal((await api.call("POST", file, "set pcname PC1\nip 10.0.1.55/24 10.0.1.1\n")).status, 201);
    const before = await api.console("PC1");
    assert.match(await before.run("show ip"), /10\.0\.1\.10\/24/);
    await api.call("POST", `${node("PC1")}/reload`, {});
    const pc = await api.console("PC1");
    assert.match(await pc.run("show ip"), /10\.0\.1\.55\/24/);
    await pc.run("ip 10.0.1.66/24 10.0.1.1");
    await pc.run("save");
    assert.match(of(await api.call("GET", file)), /ip 10\.0\.1\.66 10\.0\.1\.1 24/);
    await api.call("PUT", node("PC1"), {
      properties: { startup_script: "set pcname %h\nip 10.0.1.77/24 10.0.1.1\n" },
    });
    assert.match(of(await api.call("GET", file)), /^set pcname PC1\nip 10\.0\.1\.77/);

    const config = `${node("R1")}/files/startup-config.cfg`;
    const text = of(await api.call("GET", config)) as string;
    await api.call("POST", config, text.replace("ip address 10.0.1.1 ", "ip address 10.0.1.254 "));
    assert.match(await pc.run("ping 10.0.1.1 -c 1"), /^84 bytes/, "not yet");
    await api.call("POST", `${node("R1")}/stop`, {});
    await api.call("POST", `${node("R1")}/start`, {});
    assert.match(await pc.run("ping 10.0.1.254 -c 1"), /^84 bytes/);
    const files = of(await api.call("GET", `${node("R1")}/files`)) as { path: string }[];
    assert.deepEqual(files.map(({ path }) => path), ["startup-config.cfg"]);
    assert.equal((await api.call("GET", `${node("R1")}/files/nothing.txt`)).status, 404);
  });
});

Deno.test("a lab built through the API works: two PCs on a switch, and a router made from its template", async () => {
  await withGns3({}, async (api) => {
    const at = `/v3/projects/${api.gns3.otherProjectId}`;
    const templates = of(await api.call("GET", "/v3/templates", undefined, "bob")) as {
      name: string;
      template_id: string;
    }[];
    const make = async (template: string, name: string) => {
      const id = templates.find((t) => t.name === template)!.template_id;
      return of(await api.call("POST", `${at}/templates/${id}`, { x: 0, y: 0, name }, "bob"));
    };
    const [a, b, sw, r] = [
      await make("VPCS", "A"),
      await make("VPCS", "B"),
      await make("Ethernet switch", "S"),
      await make("Practice router", "R"),
    ];
    assert.deepEqual([sw.status, sw.console, sw.console_type], ["started", null, "none"]);
    const link = (x: { node_id: string }, y: { node_id: string }, port: number) =>
      api.call("POST", `${at}/links`, {
        nodes: [{ node_id: x.node_id, adapter_number: 0, port_number: 0 }, {
          node_id: y.node_id,
          adapter_number: 0,
          port_number: port,
        }],
      }, "bob");
    for (const [i, node] of [a, b, r].entries()) assert.equal((await link(node, sw, i)).status, 201);
    assert.equal((await api.call("POST", `${at}/nodes/start`, undefined, "bob")).status, 204);
    const open = async (id: string) => {
      const client = await TelnetClient.connect(
        api.gns3.project(api.gns3.otherProjectId).consoles.of(id)!.port,
      );
      await client.wake();
      return client;
    };
    const [ca, cb, cr] = [await open(a.node_id), await open(b.node_id), await open(r.node_id)];
    await ca.run("ip 192.168.1.1/24 192.168.1.254");
    await cb.run("ip 192.168.1.2/24 192.168.1.254");
    assert.match(await ca.run("ping 192.168.1.2 -c 1"), /^84 bytes from 192\.168\.1\.2 icmp_seq=1 ttl=64/);
    assert.match(await ca.run("ip 192.168.1.2/24"), /is being used by MAC 00:50:79:66:68:02/);
    for (const line of ["conf t", "int f0/0", "ip address 192.168.1.254 255.255.255.0", "no shut", "end"]) {
      await cr.run(line);
    }
    assert.match(await cb.run("ping 192.168.1.254 -c 1"), /^84 bytes/);
    for (const client of [ca, cb, cr]) await client.close();
  });
});

Deno.test("a capture fills a pcap file with the frames that pass, and its stream follows it", async () => {
  await withGns3({}, async (api) => {
    const link = `${api.at}/links/${await linkBetween(api, "PC1", "R1")}`;
    assert.equal((await api.call("GET", `${link}/capture/stream`)).status, 409);
    const started = await api.call("POST", `${link}/capture/start`, { capture_file_name: "first.pcap" });
    assert.deepEqual([started.status, of(started).capturing, of(started).capture_file_name], [
      201,
      true,
      "first.pcap",
    ]);
    const again = await api.call("POST", `${link}/capture/start`, {});
    assert.deepEqual([again.status, of(again).code], [409, "compute_conflict"]);
    const stream = await fetch(api.gns3.url + `${link}/capture/stream`, {
      headers: { authorization: `Bearer ${api.gns3.tokens.alice}` },
    });
    const pc = await api.console("PC1");
    await pc.run("ping 10.0.1.1 -c 2");
    assert.equal((await api.call("POST", `${link}/capture/stop`)).status, 204);
    await pc.run("ping 10.0.1.1 -c 2");
    const bytes = await Deno.readFile(of(started).capture_file_path);
    assert.deepEqual(await stream.bytes(), bytes);
    assert.deepEqual(packets(bytes), [
      "arp 1",
      "arp 2",
      "icmp 8 10.0.1.10 > 10.0.1.1 ttl 64",
      "icmp 0 10.0.1.1 > 10.0.1.10 ttl 255",
      "icmp 8 10.0.1.10 > 10.0.1.1 ttl 64",
      "icmp 0 10.0.1.1 > 10.0.1.10 ttl 255",
    ]);
  });
});

/** The packets of a pcap file in words; checks lengths and the IP and ICMP checksums. */
function packets(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  assert.equal(view.getUint32(0, true), 0xa1b2c3d4);
  assert.equal(view.getUint32(20, true), 1, "Ethernet");
  const found: string[] = [];
  for (let at = 24; at < bytes.length;) {
    const length = view.getUint32(at + 8, true);
    const frame = bytes.subarray(at + 16, at + 16 + length);
    at += 16 + length;
    const words = new DataView(frame.buffer, frame.byteOffset);
    if (words.getUint16(12) === 0x0806) {
      found.push(`arp ${words.getUint16(20)}`);
      continue;
    }
    assert.equal(words.getUint16(16), frame.length - 14, "IP's total length");
    assert.equal(sum(frame.subarray(14, 34)), 0xffff, "IP's checksum");
    assert.equal(sum(frame.subarray(34)), 0xffff, "ICMP's checksum");
    found.push(
      `icmp ${frame[34]} ${frame.subarray(26, 30).join(".")} > ${frame.subarray(30, 34).join(".")} ttl ${
        frame[22]
      }`,
    );
  }
  return found;
}

function sum(bytes: Uint8Array): number {
  let total = 0;
  for (let i = 0; i < bytes.length; i += 2) total += (bytes[i]! << 8) + (bytes[i + 1] ?? 0);
  while (total >> 16) total = (total & 0xffff) + (total >> 16);
  return total;
}
