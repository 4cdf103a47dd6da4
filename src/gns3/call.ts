// What the groups of GNS3's routes share: how one request is made and read.
import { z } from "zod";
import type { Gns3Request } from "./request.ts";

/** One request whose answer `shape` reads; throws as `Gns3Client`'s methods do. */
export type Call = <T>(
  method: Gns3Request["method"],
  path: string,
  shape: (value: unknown) => T,
  options: { body?: unknown; signal?: AbortSignal; timeoutMs?: number },
) => Promise<T>;

/** Starting a node may load an image or wait for a compute. */
export const SLOW_MS = 120_000;

/** Reads an answer that says nothing. */
export const nothing = () => undefined;

/** Reads a JSON list whose items `shape` reads. */
export function listOf<T>(shape: (value: unknown) => T): (value: unknown) => T[] {
  return (value) => z.array(z.unknown()).parse(value).map(shape);
}
