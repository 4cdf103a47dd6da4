// GNS3's routes for drawings on the canvas.
import { z } from "zod";
import type { Call } from "./call.ts";

/** A drawing: SVG text at a place, `z` above or below the nodes (which are at 1). */
export interface Drawing {
  drawing_id: string;
  x: number;
  y: number;
  z: number;
  svg: string;
}

const shape = z.object({
  drawing_id: z.string(),
  x: z.number().catch(0),
  y: z.number().catch(0),
  z: z.number().catch(0),
  svg: z.string().catch(""),
});

export function drawingCalls(call: Call) {
  const at = (projectId: string) => `/v3/projects/${encodeURIComponent(projectId)}/drawings`;
  const read = (value: unknown): Drawing => shape.parse(value);
  return {
    create(projectId: string, drawing: Omit<Drawing, "drawing_id">, signal?: AbortSignal): Promise<Drawing> {
      return call("POST", at(projectId), read, { body: drawing, signal });
    },
    get(projectId: string, drawingId: string, signal?: AbortSignal): Promise<Drawing> {
      return call("GET", `${at(projectId)}/${encodeURIComponent(drawingId)}`, read, { signal });
    },
  };
}
