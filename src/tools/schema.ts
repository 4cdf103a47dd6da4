// A tool's arguments as JSON Schema, in the plain form that every model provider takes.
import { z } from "zod";
import type { Tool } from "./tool.ts";

/** Always `type: object`, with `properties`; no `$schema`, no `$ref`, and no bounds that only say "a whole number". */
export function toolSchema(tool: Tool): Record<string, unknown> {
  const schema = z.toJSONSchema(tool.input, {
    io: "input",
    reused: "inline",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  }) as Record<string, unknown>;
  delete schema.$schema;
  return { type: "object", properties: {}, ...schema };
}
