// What a model may ask of tshark, and that nothing else becomes an argument.
import assert from "node:assert/strict";
import { argumentsOf, type Query, querySchema } from "../../src/host/query.ts";
import { readArguments } from "../../src/host/tshark_args.ts";

function refused(text: string, why: RegExp): void {
  assert.throws(() => readArguments(text), (error: Error & { code?: string }) => {
    assert.equal(error.code, "validation_error");
    assert.match(error.message, why);
    assert.match(error.message, /^tshark_args: .*Allowed: -Y filter/s);
    return true;
  }, text);
}

Deno.test("readArguments reads what models write", () => {
  const cases: [string, Query][] = [
    ["-Y icmp -c 20", { filter: "icmp", count: 20 }],
    ['tshark -Y "ip.addr == 10.0.0.1 && icmp"', { filter: "ip.addr == 10.0.0.1 && icmp" }],
    ["-Y ip.addr == 10.0.0.1 && icmp -c 5 -V", {
      filter: "ip.addr == 10.0.0.1 && icmp",
      count: 5,
      details: true,
    }],
    ["-Y 'frame contains \"abc\"'", { filter: 'frame contains "abc"' }],
    ['-Y http.host == "a b" -x', { filter: 'http.host == "a b"', bytes: true }],
    ['-Y "frame contains \\"a\\""', { filter: 'frame contains "a"' }],
    ["tcp.len > 0", { filter: "tcp.len > 0" }],
    ["-Yicmp -c5", { filter: "icmp", count: 5 }],
    ["-T fields -e ip.src -e ip.dst", { fields: ["ip.src", "ip.dst"] }],
    ["-T fields -e ip.src,ip.dst -E header=n -E separator=,", {
      fields: ["ip.src", "ip.dst"],
      fieldOptions: ["header=n", "separator=,"],
    }],
    ["-T json -Y dns", { filter: "dns", form: "json" }],
    ["-q -z io,phs", { statistics: ["io,phs"] }],
    ["-qz conv,ip,icmp", { statistics: ["conv,ip,icmp"] }],
    ['-z "io,stat,1,ip.src == 10.0.0.1"', { statistics: ["io,stat,1,ip.src == 10.0.0.1"] }],
    ["-O ospf,ip -t ad -n", { detailsOf: ["ospf", "ip"], time: "ad" }],
    ["-d tcp.port==8080,http", { decodeAs: ["tcp.port==8080,http"] }],
    ["-o tcp.relative_sequence_numbers:FALSE", { preferences: ["tcp.relative_sequence_numbers:FALSE"] }],
  ];
  for (const [text, query] of cases) assert.deepEqual(readArguments(text), query, text);
});

Deno.test("readArguments refuses what reads, writes, loads or captures something else, and says what is allowed", () => {
  refused("-r /etc/passwd", /-r is not allowed: link_id says which capture/);
  refused("-r/etc/passwd", /-r is not allowed/);
  refused("-Y icmp -w /tmp/x", /-w is not allowed: nothing is written/);
  refused("-nw /tmp/x", /-w is not allowed/);
  refused("-i any", /-i is not allowed/);
  refused("-X lua_script:/tmp/x.lua", /-X is not allowed/);
  refused("--export-objects http,/tmp", /--export-objects is not allowed/);
  refused("-C evil", /-C is not allowed/);
  refused("-K keytab", /-K is not allowed/);
  refused("-G fields", /-G is not allowed/);
  refused("-R icmp", /-R is not allowed: use -Y/);
  refused("-2 -Y icmp", /-2 is not allowed/);
  refused("-o tls.keylog_file:/tmp/keys", /-o must be one of/);
  refused("-o uat:user_dlts:x", /-o must be one of/);
  refused("-z lua,x", /-z must be one of these reports/);
  refused("-z follow,tls,ascii,0", /-z must be/);
  refused("-z io,phs,\n-w x", /-z must be|-w is not/);
  refused("-T pdml", /-T must be fields, text, tabs or json/);
  refused("-E header=/tmp", /-E must be/);
  refused("-T fields -e 'ip.src;id'", /-e must be names/);
  refused("-d tcp.port==80,../x", /-d must be/);
});

Deno.test("readArguments explains what is wrong with an argument that is allowed", () => {
  refused("-c many", /-c must be a whole number from 1 to 1000000/);
  refused("-c 0", /-c must be/);
  refused("-T fields", /-T fields needs fields/);
  refused("-Y", /-Y needs a value/);
  refused("-Y icmp -Y arp", /-Y stands there twice/);
  refused("-Y 'icmp", /quotation mark is not closed/);
  refused("-Y icmp | head -20", /no pipes/);
  refused("-z io,phs 2>/dev/null", /no pipes and no redirection/);
});

Deno.test("argumentsOf makes a command line in which every value stands behind its option", () => {
  assert.deepEqual(argumentsOf({}), ["-n", "-r", "-"]);
  const args = argumentsOf(readArguments('-Y "-w /tmp/x" -T fields -e ip.src -c 3'));
  assert.deepEqual(args, [
    "-n",
    "-r",
    "-",
    "-Y",
    "-w /tmp/x",
    "-c",
    "3",
    "-T",
    "fields",
    "-e",
    "ip.src",
    "-E",
    "header=y",
  ]);
  assert.deepEqual(argumentsOf({ statistics: ["io,phs"] }), ["-n", "-r", "-", "-q", "-z", "io,phs"]);
});

Deno.test("querySchema, which the helper checks with, takes no field that it does not know", () => {
  for (
    const bad of [
      { extra: ["-w", "x"] },
      { fields: ["-w"], write: "x" },
      { filter: "a\n-w x" },
      { statistics: ["io,phs\n"] },
      { preferences: ["tls.keylog_file:TRUE"] },
      { decodeAs: ["tcp.port==80,http -w x"] },
      { fields: ["ip.src -w x"] },
    ]
  ) assert.equal(querySchema.safeParse(bad).success, false, JSON.stringify(bad));
});
