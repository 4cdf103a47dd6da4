// A route as data: the router mounts it, the OpenAPI document describes it, 405 answers come from it.
import type { Context } from "hono";
import type { z } from "zod";

export type Method = "get" | "post" | "put" | "patch" | "delete";

/** One answer of a route. `schema` is JSON unless `contentType` says otherwise; neither: no body. */
export interface Answer {
  description: string;
  schema?: z.ZodType;
  contentType?: string;
  /** Other forms of the same answer, by content type. */
  also?: Record<string, z.ZodType>;
}

export interface Route {
  method: Method;
  /** With `:name` parameters, as Hono writes them. */
  path: string;
  /** Unique; the name of the operation in the OpenAPI document. */
  id: string;
  tag: string;
  summary: string;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  body?: z.ZodType;
  bodyOptional?: boolean;
  answers: Record<number, Answer>;
  /** Answers without a credential. */
  open?: boolean;
  handle(c: Context): Response | Promise<Response>;
}
