// What every embedded skill must hold; skills from elsewhere may be looser.
import { z } from "zod";

/** The kinds of devices that we write skills and faults for; a fault may also be on a link. */
export const DEVICE_TYPES = [
  "cisco_ios_telnet",
  "gns3_huawei_telnet_ce",
  "gns3_ruijie_telnet",
  "gns3_vpcs_telnet",
  "gns3_frr_telnet",
  "gns3_linux_telnet",
] as const;

const sentence = z.string().regex(/^[A-Z].*[.?!)]$/s, "a sentence");
const phrase = z.string().regex(/^[A-Z].{3,}[^.]$/s, "a phrase without a full stop");
const command = z.string().regex(/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/, "one command in plain characters");
const commands = z.array(command).min(1);

export const deviceHead = z.strictObject({
  name: phrase,
  device_type: z.enum([...DEVICE_TYPES, "topology_planner"]),
  description: phrase,
  device_types: z.array(z.string().regex(/^[a-z0-9_]+$/)).optional(),
  aliases: z.array(z.string()).min(2),
});

export const packetSchema = z.strictObject({
  name: z.string().min(3),
  description: phrase,
  protocol_key: z.string(),
  aliases: z.array(z.string()).min(2),
  display_filter: z.string(),
  fields: z.array(z.strictObject({
    label: z.string().min(2),
    tshark_field: z.string().regex(/^[a-z0-9_.-]+$/),
    description: z.string(),
  })).min(7),
  filter_examples: z.array(z.strictObject({ name: z.string(), filter: z.string(), description: z.string() }))
    .min(3),
  tshark_args: z.string().regex(/^-Y (?:\w+|"[^"]+") -T fields(?: -e [a-z0-9_.]+)+$/),
  look_for: z.array(sentence).min(3),
  typical_faults: z.array(z.strictObject({ fault: z.string(), shows: z.string() })).min(4),
});

const onDevice = z.strictObject({ inject: commands, verify: commands, undo: commands });
/** GNS3's packet filters: each with its numbers, or an expression. */
const onLink = z.strictObject({
  filters: z.strictObject({
    frequency_drop: z.tuple([z.int().min(-1)]),
    packet_loss: z.tuple([z.int().min(1).max(100)]),
    delay: z.tuple([z.int().min(1), z.int().min(0)]),
    corrupt: z.tuple([z.int().min(1).max(100)]),
    bpf: z.tuple([z.string()]),
  }).partial().refine((filters) => Object.keys(filters).length === 1, "one filter"),
});

export const issueSchema = z.strictObject({
  name: phrase,
  difficulty: z.enum(["beginner", "intermediate", "advanced"]),
  symptom: sentence,
  cause: sentence,
  prerequisites: z.array(phrase).min(1),
  values: z.record(z.string(), z.string().min(5)),
  platforms: z.partialRecord(z.enum([...DEVICE_TYPES, "gns3_link"]), z.union([onDevice, onLink])).refine(
    (platforms) => Object.keys(platforms).length > 0,
    "at least one platform",
  ).refine(
    (platforms) =>
      Object.entries(platforms).every(([type, one]) => (type === "gns3_link") === ("filters" in one)),
    "filters on links, commands on devices",
  ),
  shows: sentence,
  hints: z.array(sentence).length(3),
});
export type IssueFile = z.infer<typeof issueSchema>;

export const injectionSchema = z.strictObject({
  name: z.string().min(3),
  description: phrase,
  protocols: z.array(z.string().regex(/^[a-z0-9_-]+$/)).min(2),
  issues: z.record(z.string().regex(/^[a-z0-9]+(?:_[a-z0-9]+)+$/), issueSchema),
});
