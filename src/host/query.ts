// What may be asked of tshark, as data: whatever is not in here cannot be asked, and no text of a model is an argument
// of its own. From this the helper, and it alone, makes the command line.
import { z } from "zod";

const word = z.string().regex(/^[A-Za-z0-9_.-]{1,200}$/);
// deno-lint-ignore no-control-regex -- a filter is one line
const filter = z.string().min(1).max(4_000).regex(/^[^\x00-\x1f]*$/);

/** `-z`: reports that only print. Others can write files or load things. */
export const STATISTICS: readonly { pattern: RegExp; example: string }[] = [
  { pattern: /^io,phs(,.+)?$/, example: "io,phs" },
  { pattern: /^io,stat,\d{1,6}(\.\d{1,6})?(,.+)?$/, example: "io,stat,1" },
  { pattern: /^(conv|endpoints),(eth|ip|ipv6|tcp|udp|sctp)(,.+)?$/, example: "conv,ip" },
  { pattern: /^expert(,(chat|note|warn|error))?(,.+)?$/, example: "expert" },
  { pattern: /^follow,(tcp|udp),(ascii|hex),\d{1,9}$/, example: "follow,tcp,ascii,0" },
  { pattern: /^flow,(any|icmp|icmpv6|tcp),(standard|network)(,.+)?$/, example: "flow,any,standard" },
  {
    pattern:
      /^(dns|http|http_req|http_srv|ip_hosts|ip_srcdst|dests|ptype|plen|ipv6_hosts|ipv6_srcdst|ipv6_dests|ipv6_ptype),tree(,.+)?$/,
    example: "dns,tree",
  },
  { pattern: /^(dhcp|sip|http|sctp),stat(,.+)?$/, example: "dhcp,stat" },
  { pattern: /^(icmp|icmpv6|snmp|ldap),srt(,.+)?$/, example: "icmp,srt" },
  { pattern: /^rtp,streams$/, example: "rtp,streams" },
];

/** `-o`: what changes how packets are shown, on or off. No others: some name files or programs. */
export const PREFERENCES = [
  "ip.check_checksum",
  "ip.defragment",
  "tcp.analyze_sequence_numbers",
  "tcp.check_checksum",
  "tcp.desegment_tcp_streams",
  "tcp.relative_sequence_numbers",
  "udp.check_checksum",
] as const;

export const TIME_FORMATS = ["a", "ad", "adoy", "d", "dd", "e", "r", "u", "ud", "udoy"] as const;

export const querySchema = z.strictObject({
  /** `-Y`, a display filter. */
  filter: filter.optional(),
  /** `-c`: so many packets are read. tshark counts before it filters. */
  count: z.int().min(1).max(1_000_000).optional(),
  /** `-T fields` with these `-e`; or another form of output. */
  fields: z.array(word).min(1).max(50).optional(),
  form: z.enum(["text", "tabs", "json"]).optional(),
  /** `-E header=y` and the like. */
  fieldOptions: z.array(
    z.string().regex(
      /^(header=[yn]|bom=n|occurrence=[fla]|quote=[dsn]|(separator|aggregator)=(\/[ts]|[^\s]))$/,
    ),
  ).max(6).optional(),
  /** `-V`, all layers in full; `-O`, only these in full; `-x`, bytes too. */
  details: z.boolean().optional(),
  detailsOf: z.array(word).min(1).max(20).optional(),
  bytes: z.boolean().optional(),
  /** `-q -z …`. */
  statistics: z.array(
    filter.refine((text) => STATISTICS.some(({ pattern }) => pattern.test(text)), "is not an allowed report"),
  ).max(5).optional(),
  time: z.enum(TIME_FORMATS).optional(),
  /** `-d tcp.port==8080,http`. */
  decodeAs: z.array(z.string().regex(/^[a-z0-9_.]{1,60}==[0-9:,-]{1,40},[a-z0-9_.-]{1,60}$/)).max(5)
    .optional(),
  preferences: z.array(
    z.string().regex(new RegExp(`^(${PREFERENCES.join("|").replaceAll(".", "\\.")}):(TRUE|FALSE)$`)),
  ).max(10).optional(),
  /** Only the first or the last lines of the output. */
  first: z.int().min(1).max(5_000).optional(),
  last: z.int().min(1).max(5_000).optional(),
});

/** One question to tshark about one capture. */
export type Query = z.infer<typeof querySchema>;

/** The whole command line but for the program: reads standard input, asks no name server, writes nothing. */
export function argumentsOf(query: Query): string[] {
  const args = ["-n", "-r", "-"];
  const add = (option: string, values: readonly string[] = []) => {
    for (const value of values) args.push(option, value);
  };
  if (query.filter !== undefined) args.push("-Y", query.filter);
  if (query.count !== undefined) args.push("-c", String(query.count));
  if (query.fields) {
    args.push("-T", "fields");
    add("-e", query.fields);
    add("-E", query.fieldOptions ?? ["header=y"]);
  } else if (query.form) args.push("-T", query.form);
  if (query.details) args.push("-V");
  if (query.detailsOf) args.push("-O", query.detailsOf.join(","));
  if (query.bytes) args.push("-x");
  if (query.time) args.push("-t", query.time);
  add("-d", query.decodeAs);
  add("-o", query.preferences);
  if (query.statistics?.length) {
    args.push("-q");
    add("-z", query.statistics);
  }
  return args;
}
