// GNS3's routes for packet captures of links.
import type { Link } from "../domain/project.ts";
import { type Call, nothing, SLOW_MS } from "./call.ts";
import type { OpenedStream } from "./request.ts";
import { toLink } from "./shapes.ts";

/** Link types that a capture may be written as; GNS3 passes the name on to uBridge or Dynamips. */
export const DATA_LINK_TYPES = [
  "DLT_EN10MB",
  "DLT_C_HDLC",
  "DLT_PPP_SERIAL",
  "DLT_FRELAY",
  "DLT_ATM_RFC1483",
] as const;
export type DataLinkType = typeof DATA_LINK_TYPES[number];

/** `open` starts an answer that does not end by itself. All of these need GNS3's privilege `Link.Capture`. */
export function captureCalls(
  call: Call,
  open: (path: string, signal: AbortSignal) => Promise<OpenedStream>,
) {
  const at = (projectId: string, linkId: string) =>
    `/v3/projects/${encodeURIComponent(projectId)}/links/${encodeURIComponent(linkId)}/capture`;
  return {
    /** GNS3 chooses the file's name from the nodes and ports. Throws `conflict` when a capture runs already. */
    start(projectId: string, linkId: string, type: DataLinkType, signal?: AbortSignal): Promise<Link> {
      const body = { data_link_type: type };
      return call("POST", `${at(projectId, linkId)}/start`, toLink, { body, signal, timeoutMs: SLOW_MS });
    },
    stop(projectId: string, linkId: string, signal?: AbortSignal): Promise<void> {
      const options = { body: {}, signal, timeoutMs: SLOW_MS };
      return call("POST", `${at(projectId, linkId)}/stop`, nothing, options);
    },
    /** The running capture's file from its start; it goes on as long as the capture does. Throws `conflict` when none runs. */
    stream(projectId: string, linkId: string, signal: AbortSignal): Promise<OpenedStream> {
      return open(`${at(projectId, linkId)}/stream`, signal);
    },
  };
}
