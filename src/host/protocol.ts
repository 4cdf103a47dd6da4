// What the server's Worker and the helper outside of its sandbox say to each other; both sides check every message.
import { z } from "zod";
import { querySchema } from "./query.ts";

/** Most bytes of a capture that is not a file of this machine. */
export const MOST_BYTES = 16 * 1024 * 1024;

/** Where the packets are: in a file of a project, or in the message. Paths are absolute. */
export const sourceSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("file"),
    path: z.string().min(1).max(4_096),
    /** The project's folder, inside the projects directory; the file must lie in it. */
    within: z.string().min(1).max(4_096),
  }),
  z.strictObject({
    kind: z.literal("bytes"),
    bytes: z.instanceof(Uint8Array).refine(({ length }) => length <= MOST_BYTES, "too many bytes"),
  }),
]);
export type Source = z.infer<typeof sourceSchema>;

const id = z.int().nonnegative();

export const toHelperSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("analyze"), id, source: sourceSchema, query: querySchema }),
  z.strictObject({
    type: z.literal("fields"),
    id,
    keyword: z.string().min(1).max(100),
    limit: z.int().min(1).max(200),
  }),
  z.strictObject({ type: z.literal("cancel"), id }),
]);
export type ToHelper = z.infer<typeof toHelperSchema>;

const analysisSchema = z.strictObject({
  output: z.string(),
  /** Lines of `output` that are not blank; a line of field names does not count. */
  lines: z.int(),
  /** Bytes of the capture that were there to read. */
  captureBytes: z.int(),
  /** `output` is not all of it, because it grew too long. */
  outputCut: z.boolean(),
  /** The capture ends in the middle of a packet. */
  packetCut: z.boolean(),
  /** tshark needed longer than it may; `output` is what it had said. */
  timedOut: z.boolean(),
  /** Why tshark did nothing, in its own words. */
  problem: z.string().optional(),
  /** Names of `fields` that tshark does not know. */
  unknownFields: z.array(z.string()).optional(),
});
export type Analysis = z.infer<typeof analysisSchema>;

const fieldSchema = z.strictObject({ name: z.string(), description: z.string(), type: z.string() });
export type Field = z.infer<typeof fieldSchema>;

/** Fields that fit, best first; `total` counts those that were left off too. */
const foundSchema = z.strictObject({ fields: z.array(fieldSchema), total: z.int() });
export type FoundFields = z.infer<typeof foundSchema>;

export const fromHelperSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("analysis"), id, analysis: analysisSchema }),
  z.strictObject({ type: z.literal("fields"), id, found: foundSchema }),
  z.strictObject({
    type: z.literal("failed"),
    id,
    code: z.enum(["not_found", "forbidden", "bad_request", "unavailable", "internal"]),
    message: z.string(),
  }),
]);
export type FromHelper = z.infer<typeof fromHelperSchema>;
