// Starting, stopping and listing captures.
import assert from "node:assert/strict";
import { practiceLab } from "./practice.ts";

for (const version of ["3.1.0a7", "3.0.6"] as const) {
  Deno.test(`captures are started, listed and stopped by the ends of their link on GNS3 ${version}`, async () => {
    await using lab = await practiceLab({ version });
    assert.match((await lab.call("list_gns3_captures", {})).note, /^There is none/);
    const started = await lab.call("start_gns3_capture", { link_id: "PC1 - R1" });
    assert.deepEqual([started.link, started.capturing, started.file], [
      "PC1 Ethernet0 - R1 FastEthernet0/0",
      true,
      "PC1_0-0_to_R1_0-0.pcap",
    ]);
    assert.match(
      (await lab.call("start_gns3_capture", { link_id: started.link_id })).note,
      /already capturing/,
    );
    assert.deepEqual((await lab.call("list_gns3_captures", {})).captures, [started]);
    const stopped = await lab.call("stop_gns3_capture", { link_id: "R1 - PC1" });
    assert.deepEqual(stopped, { ...started, capturing: false });
    assert.match((await lab.call("stop_gns3_capture", { link_id: "R1 - PC1" })).note, /was not capturing/);
    assert.deepEqual((await lab.call("list_gns3_captures", { link_id: "PC1 - R1" })).captures, [stopped]);
    assert.deepEqual((await lab.call("list_gns3_captures", { link_id: "R1 - R2" })).captures, []);
  });
}

Deno.test("a serial link is captured as Cisco HDLC unless another type is given", async () => {
  await using lab = await practiceLab();
  const types: string[] = [];
  const { captures, topology } = lab.context.gns3;
  captures.start = (_project, link_id, type) => {
    types.push(type);
    return Promise.resolve({ link_id, nodes: [], suspend: false, capturing: true, filters: {} });
  };
  lab.context.gns3.topology = async (...args) => {
    const found = await topology.apply(lab.context.gns3, args);
    for (const { ports } of found.nodes) for (const port of ports) port.link_type = "serial";
    return found;
  };
  await lab.call("start_gns3_capture", { link_id: "R1 - R2" });
  await lab.call("start_gns3_capture", { link_id: "R1 - R2", data_link_type: "DLT_PPP_SERIAL" });
  assert.deepEqual(types, ["DLT_C_HDLC", "DLT_PPP_SERIAL"]);
});

Deno.test("who may not capture in GNS3 starts no capture", async () => {
  await using lab = await practiceLab({ user: "carol" });
  const { error, code } = await lab.call("start_gns3_capture", { link_id: "PC1 - R1" });
  assert.equal(code, "forbidden");
  assert.match(error, /privilege Link\.Capture is required/);
});
