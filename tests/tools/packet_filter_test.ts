// Packet filters: checked against what GNS3 offers for the link, read back, and really cleared.
import assert from "node:assert/strict";
import { practiceLab } from "./practice.ts";

const mode = "troubleshooting_injection" as const;
const link_id = "R1 - R2";

Deno.test("manage_gns3_packet_filter belongs to the injection mode, and only set is a change", async () => {
  await using lab = await practiceLab();
  const args = { link_id, action: "get" };
  assert.match((await lab.call("manage_gns3_packet_filter", args)).error, /unknown tool/);
  await lab.call("manage_gns3_packet_filter", args, { mode });
  await lab.call("manage_gns3_packet_filter", { ...args, action: "set", filters: {} }, { mode });
  assert.deepEqual(lab.audited.map(({ risk, outcome }) => [risk, outcome]), [
    [null, "refused"],
    ["read", "success"],
    ["change", "success"],
  ]);
});

Deno.test("manage_gns3_packet_filter shows, sets and clears the filters of a link", async () => {
  await using lab = await practiceLab();
  const call = (args: unknown) => lab.call("manage_gns3_packet_filter", args, { mode });
  const { available } = await call({ link_id, action: "get_available" });
  assert.ok(available.some((one: { type: string }) => one.type === "packet_loss"));
  const set = await call({
    link_id,
    action: "set",
    filters: { packet_loss: ["30"], delay: [200, 10], bpf: "icmp" },
  });
  assert.deepEqual(set.filters, { packet_loss: [30], delay: [200, 10], bpf: ["icmp"] });
  assert.equal(set.link, "R1 FastEthernet0/1 - R2 FastEthernet0/1");
  assert.deepEqual((await call({ link_id, action: "get" })).filters, set.filters);
  assert.deepEqual((await call({ link_id, action: "set", filters: {} })).filters, {});
});

Deno.test("manage_gns3_packet_filter says which filter or value does not fit, and what would", async () => {
  await using lab = await practiceLab();
  const why = async (filters: unknown) =>
    (await lab.call("manage_gns3_packet_filter", { link_id, action: "set", filters }, { mode })).error;
  assert.match(
    await why({ gremlins: [1] }),
    /no filter "gremlins"\. This link offers: .*delay \[Latency 1\.\.32767 ms, Jitter/,
  );
  assert.equal(
    await why({ packet_loss: [130] }),
    "packet_loss: Chance must be a whole number from 0 to 100 (%).",
  );
  assert.match(await why({ packet_loss: ["much"] }), /Chance must be a whole number/);
  assert.match(await why({ delay: [1, 2, 3] }), /^delay takes 1 to 2 values: delay \[Latency/);
  assert.match(await why({ bpf: [" "] }), /Filters must be a text that is not empty/);
  assert.match(await why(undefined), /^set needs filters/);
  // GNS3's own words
  assert.match(
    await why({ bpf: ["tcp"] }),
    /The practice lab understands only.*has the filters again that it/,
  );
  assert.deepEqual((await lab.api("GET", "/links"))[1].filters, {});
});

Deno.test("manage_gns3_packet_filter puts back what was there when a node refuses the new filters", async () => {
  for (const version of ["3.1.0a7", "3.0.6"] as const) {
    await using lab = await practiceLab({ version });
    const call = (filters: unknown) =>
      lab.call("manage_gns3_packet_filter", { link_id, action: "set", filters }, { mode });
    const kept = async () => (await lab.api("GET", "/links"))[1].filters;
    await call({ delay: [5] });
    assert.match((await call({ bpf: "not a ( filter" })).error, /has the filters again that it had before/);
    assert.deepEqual(await kept(), { delay: [5] });
    await call({});
    assert.match((await call({ bpf: "not a ( filter" })).error, /has the filters again that it had before/);
    assert.deepEqual(await kept(), {});
  }
});

Deno.test("manage_gns3_packet_filter takes a list of BPF expressions for the lines of one", async () => {
  await using lab = await practiceLab();
  const filters = { bpf: ["icmp", "arp"] };
  const set = await lab.call("manage_gns3_packet_filter", { link_id, action: "set", filters }, { mode });
  assert.deepEqual(set.filters, { bpf: ["icmp\narp"] });
});

Deno.test("on GNS3 3.0, which does not tell its nodes of cleared filters, they are replaced before they are cleared", async () => {
  await using lab = await practiceLab({ version: "3.0.6" });
  const call = (filters: unknown) =>
    lab.call("manage_gns3_packet_filter", { link_id, action: "set", filters }, { mode });
  await call({ packet_loss: [100] });
  const sent: unknown[] = [];
  const { gns3 } = lab.context;
  const set = gns3.setLinkFilters.bind(gns3);
  gns3.setLinkFilters = (project, link, filters, signal) => {
    sent.push(filters);
    return set(project, link, filters, signal);
  };
  const cleared = await call({});
  assert.deepEqual(sent, [{ bpf: ["greater 65535"] }, {}]);
  assert.deepEqual(cleared.filters, {});
  assert.match(cleared.note, /does not pass the removal of filters on.*stop and start the nodes/);
  assert.equal((await call({})).note, undefined); // nothing was there to clear
});
