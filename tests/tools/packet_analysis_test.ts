// Reading captures: what is asked of tshark, and what is said when there is little to read.
import assert from "node:assert/strict";
import { findProgram } from "../../src/cli/find_program.ts";
import { AppError } from "../../src/domain/error.ts";
import { HostClient } from "../../src/host/client.ts";
import { startHelper } from "../../src/host/helper.ts";
import type { Analysis, Source } from "../../src/host/protocol.ts";
import type { Query } from "../../src/host/query.ts";
import { testWhere } from "../e2e/needs.ts";
import { arp, http, ospfHello, pcap, ping, tls } from "../host/pcap.ts";
import { type PracticeLab, practiceLab } from "./practice.ts";

const TSHARK = findProgram("tshark", Deno.env.get("PATH"));
const missing = TSHARK ? null : "tshark is not installed";
const link_id = "PC1 - R1";

interface Reading extends PracticeLab {
  /** Starts a capture whose file then holds these bytes. */
  capture(bytes: Uint8Array): Promise<void>;
}

async function reading(tshark = TSHARK, user?: string): Promise<Reading> {
  const lab = await practiceLab({ user });
  const { port1, port2 } = new MessageChannel();
  const helper = startHelper({ port: port1, projectsDir: lab.gns3.projectsDir, tshark });
  const client = new HostClient(port2);
  lab.context.host = client;
  return {
    ...lab,
    async capture(bytes) {
      const [link] = await lab.api("GET", "/links");
      const { capture_file_path } = link.capturing
        ? link
        : await lab.api("POST", `/links/${link.link_id}/capture/start`, {});
      await Deno.writeFile(capture_file_path, bytes);
    },
    async [Symbol.asyncDispose]() {
      client.close();
      helper.close();
      await lab[Symbol.asyncDispose]();
    },
  };
}

testWhere(
  missing,
  "packet_analysis without arguments tells the protocols and the first packets",
  async () => {
    await using lab = await reading();
    await lab.capture(pcap([arp, ...Array(30).fill(ping)]));
    const answer = await lab.call("packet_analysis", { link_id });
    assert.equal(answer.link, "PC1 Ethernet0 - R1 FastEthernet0/0");
    assert.equal(answer.capturing, true);
    assert.match(
      answer.protocols,
      /^eth frames:31 .*\n {2}arp frames:1 bytes:42\n {2}ip frames:30.*\n {4}icmp frames:30/,
    );
    assert.equal(answer.output.split("\n").length, 20);
    assert.match(answer.output, /ARP 42 Who has 10\.0\.0\.2/);
    assert.equal(answer.notes, undefined);
  },
);

testWhere(
  missing,
  "packet_analysis runs the arguments that it allows, on a capture that has ended too",
  async () => {
    await using lab = await reading();
    await lab.capture(pcap([arp, ping, ospfHello, http]));
    await lab.call("stop_gns3_capture", { link_id });
    const ask = async (tshark_args: string, more = {}) =>
      await lab.call("packet_analysis", { link_id, tshark_args, ...more });
    assert.equal(
      (await ask("-Y icmp -T fields -e ip.src -e ip.dst -E header=n")).output,
      "10.0.0.1\t10.0.0.2",
    );
    assert.match((await ask('-Y "ospf.msg == 1" -O ospf')).output, /Hello Interval \[sec\]: 10/);
    assert.match((await ask("-z conv,ip")).output, /10\.0\.0\.1 +<-> 10\.0\.0\.2/);
    assert.match((await ask("", { last: 1 })).output, /^ +4 .*GET \/ HTTP/);
    assert.equal((await ask("-Y ip", { first: 2 })).output.split("\n").length, 2);
    assert.match((await ask("-w /tmp/x")).error, /^tshark_args: -w is not allowed/);
    assert.match((await ask("-Y ip", { first: 1, last: 1 })).error, /Give first or last/);
  },
);

// H1
testWhere(missing, "packet_analysis says plainly that nothing is there to analyse", async () => {
  await using lab = await reading();
  const none = await lab.call("packet_analysis", { link_id });
  assert.match(
    none.error,
    /^There is no capture of PC1 .* since the project was opened\. start_gns3_capture/,
  );
  const notes = async (bytes: Uint8Array, args = {}) => {
    await lab.capture(bytes);
    return (await lab.call("packet_analysis", { link_id, ...args })).notes;
  };
  for (const args of [{}, { tshark_args: "-Y icmp" }, { tshark_args: "-z io,phs" }]) {
    assert.match((await notes(pcap([]), args))[0], /holds no packet yet\. Make traffic/);
    assert.match((await notes(new Uint8Array(0), args))[0], /file is empty: nothing has been written/);
  }
  assert.match((await notes(pcap([ping]).slice(0, -5)))[0], /first packet is still being written/);
  // What has ended gets no more packets.
  await lab.call("stop_gns3_capture", { link_id });
  const [link] = await lab.api("GET", "/links");
  for (const bytes of [pcap([]), new Uint8Array(0), pcap([ping]).slice(0, -5)]) {
    await Deno.writeFile(link.capture_file_path, bytes);
    for (const args of [{}, { tshark_args: "-Y icmp" }]) {
      const { notes } = await lab.call("packet_analysis", { link_id, ...args });
      assert.match(notes[0], /has ended without a whole packet\. Start it again/);
    }
  }
});

// H3, H5
testWhere(
  missing,
  "packet_analysis names unknown fields and how to find the right ones, and passes on filter errors",
  async () => {
    await using lab = await reading();
    await lab.capture(pcap([ping]));
    const fields = await lab.call("packet_analysis", {
      link_id,
      tshark_args: "-T fields -e ip.source -e ip.dst",
    });
    assert.match(fields.error, /tshark knows no field ip\.source\. .*search_fields/);
    assert.deepEqual(fields.unknown_fields, ["ip.source"]);
    const filter = await lab.answer("packet_analysis", { link_id, tshark_args: "-Y icmpp" });
    assert.equal(filter.status, "error");
    assert.match(
      JSON.parse(filter.output).error,
      /^tshark says: "?icmpp"? is neither a field nor a protocol/,
    );
    const search = await lab.call("packet_analysis", { action: "search_fields", query: "ip.src" });
    assert.deepEqual(search.fields[0], { name: "ip.src", description: "Source Address", type: "ipv4" });
    assert.match(
      (await lab.call("packet_analysis", { action: "search_fields", query: "qzx qzx" })).note,
      /try one word/,
    );
    assert.match((await lab.call("packet_analysis", { action: "search_fields" })).error, /needs a word/);
  },
);

// H6
testWhere(
  missing,
  "packet_analysis explains an empty result: what there is instead, and that -c counts first",
  async () => {
    await using lab = await reading();
    await lab.capture(pcap([...Array(12).fill(ping), ospfHello]));
    const notes = async (tshark_args: string) =>
      (await lab.call("packet_analysis", { link_id, tshark_args })).notes;
    const [held, hint] = await notes("-c 10 -Y ospf");
    assert.match(
      held,
      /^No packet fits\. The capture holds: eth \(13\), ip \(13\), icmp \(12\), ospf \(1\)\.$/,
    );
    assert.match(hint, /-c 10 counts before -Y filters: only the first 10 .*first: 10/);
    assert.equal((await notes("-Y arp")).length, 1);
    assert.equal(await notes("-Y ospf"), undefined);
  },
);

// H7
testWhere(
  missing,
  "packet_analysis reads a running capture that ends in the middle of a packet",
  async () => {
    await using lab = await reading();
    await lab.capture(pcap([ping, ping, ping]).slice(0, -20));
    const { output, notes, error } = await lab.call("packet_analysis", { link_id, tshark_args: "-Y icmp" });
    assert.equal(error, undefined);
    assert.equal(output.split("\n").length, 2);
    assert.match(notes[0], /ends in the middle of a packet .*all before it was read/);
  },
);

testWhere(missing, "packet_analysis says what is encrypted", async () => {
  await using lab = await reading();
  await lab.capture(pcap([tls, tls, arp]));
  const about = /^Some of it is encrypted \(tls\): only addresses, sizes, times and handshakes/;
  const notes = async (args = {}) => (await lab.call("packet_analysis", { link_id, ...args })).notes;
  assert.match((await notes()).at(-1), about);
  assert.match((await notes({ tshark_args: "-Y http" })).at(-1), about);
  assert.match((await notes({ tshark_args: "-z io,phs" })).at(-1), about);
});

Deno.test("who may not capture in GNS3 reads no capture here, although the file lies on this machine", async () => {
  await using lab = await reading(TSHARK ?? "/bin/true", "carol");
  await lab.capture(pcap([ping]));
  for (const running of [true, false]) {
    if (!running) {
      const [{ link_id }] = await lab.api("GET", "/links");
      await lab.api("POST", `/links/${link_id}/capture/stop`);
    }
    const { error, code, output } = await lab.call("packet_analysis", { link_id });
    assert.deepEqual([code, output], ["forbidden", undefined]);
    assert.match(error, /privilege Link\.Capture is required/);
  }
});

// H5
Deno.test("without tshark packet_analysis says so, and captures go on as ever", async () => {
  await using lab = await reading("");
  await lab.capture(pcap([ping]));
  assert.match((await lab.call("packet_analysis", { link_id })).error, /^tshark is not installed/);
  assert.equal((await lab.call("stop_gns3_capture", { link_id })).capturing, false);
  const { error } = await lab.call("packet_analysis", { link_id }, { host: undefined });
  assert.match(error, /runs without the helper/);
});

/** A helper that cannot reach files, and remembers what it was given instead. */
function farHelper(seen: Source[]) {
  const analysis: Analysis = {
    output: "1 packet",
    lines: 1,
    captureBytes: 1,
    outputCut: false,
    packetCut: false,
    timedOut: false,
  };
  return {
    analyze(source: Source, _query: Query) {
      seen.push(source);
      if (source.kind === "file") return Promise.reject(new AppError("not_found", "not here"));
      return Promise.resolve(analysis);
    },
    searchFields: () => Promise.resolve({ fields: [], total: 0 }),
  };
}

Deno.test("a running capture of another machine is read from GNS3's stream, one that has ended cannot be", async () => {
  await using lab = await reading();
  const bytes = pcap([arp, ping]);
  await lab.capture(bytes);
  const seen: Source[] = [];
  const more = { host: farHelper(seen) };
  const answer = await lab.call("packet_analysis", { link_id, tshark_args: "-c 1" }, more);
  assert.equal(answer.output, "1 packet");
  assert.deepEqual(seen.map(({ kind }) => kind), ["file", "bytes"]);
  const last = seen[1]!;
  assert.deepEqual(last.kind === "bytes" && last.bytes.slice(0, bytes.length), bytes);
  await lab.call("stop_gns3_capture", { link_id });
  const { error } = await lab.call("packet_analysis", { link_id, tshark_args: "-c 1" }, more);
  assert.match(
    error,
    /has ended, and its file cannot be reached from here.*start it again and read it before/,
  );
});
