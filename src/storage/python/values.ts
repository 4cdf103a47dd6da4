// Values as LangGraph's Python side serialises them: msgpack, and extensions that name a Python class.
import { Decoder, ExtData, ExtensionCodec } from "@msgpack/msgpack";

/**
 * An object of a Python class: what its constructor was given (fields by name, arguments, or one argument). No class
 * is looked up by the name: a project that was imported may hold anything.
 */
export class PythonObject {
  constructor(readonly module: string, readonly name: string, readonly given: unknown) {}
}

/** What the extensions' codes mean (langgraph-checkpoint 4 for Python). */
const EXTENSION = { objects: [0, 1, 2, 3, 4, 5], array: 6, snapshot: 7 } as const;

/** Deeper parts of a value become text: what is saved may be nested 500 levels deep. */
const MOST_LEVELS = 200;

/** JavaScript has one key that is no ordinary one: it gets another name until `plain` makes a property of it. */
const PROTO = "__proto__";
const PROTO_STAND_IN = "\0__proto__";

const text = new TextDecoder();
const codec = new ExtensionCodec();
const decoder = new Decoder({
  extensionCodec: codec,
  useBigInt64: true,
  mapKeyConverter: String,
  keyDecoder: {
    canBeCached: (length: number) => length === PROTO.length,
    decode: (bytes: Uint8Array, offset: number, length: number) => {
      const key = text.decode(bytes.subarray(offset, offset + length));
      return key === PROTO ? PROTO_STAND_IN : key;
    },
  },
});

const noEncoding = () => null;
for (const type of EXTENSION.objects) {
  codec.register({ type, encode: noEncoding, decode: (data) => toObject(decoder.decode(data)) });
}
codec.register({
  type: EXTENSION.array,
  encode: noEncoding,
  decode: (data) => toArray(decoder.decode(data)),
});
codec.register({ type: EXTENSION.snapshot, encode: noEncoding, decode: (data) => decoder.decode(data) });

/**
 * The value of a row's columns `type` and `value`. Objects of classes are `PythonObject`s, integers of 64 bits are
 * bigints; hand parts of it to `plain` before they leave. Throws for what cannot be decoded.
 */
export function decodeValue(type: unknown, value: unknown): unknown {
  switch (type) {
    case "null":
      return null;
    case "msgpack":
      return decoder.decode(bytesOf(value));
    case "json":
      return JSON.parse(typeof value === "string" ? value : text.decode(bytesOf(value)));
    case "bytes":
    case "bytearray":
      return bytesOf(value);
    default:
      throw new TypeError(`A value of the unknown type ${String(type)}.`);
  }
}

/**
 * A decoded value as plain data: an object of a class as what its constructor was given, an integer as a number where
 * that is exact, an extension that nobody knows and what is nested without measure as a text.
 */
export function plain(value: unknown, level = 0): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value === null || typeof value !== "object" || value instanceof Uint8Array || value instanceof Date) {
    return value;
  }
  if (level > MOST_LEVELS) return readable(value);
  if (value instanceof PythonObject) return plain(value.given, level + 1);
  if (value instanceof ExtData) return unknownExtension(value);
  if (Array.isArray(value)) return value.map((part) => plain(part, level + 1));
  // `fromEntries` makes an own property even of "__proto__".
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key === PROTO_STAND_IN ? PROTO : key,
      plain(part, level + 1),
    ]),
  );
}

/** Any decoded value as a text for people. */
export function readable(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    if (part instanceof PythonObject) return part.given;
    if (part instanceof ExtData) return unknownExtension(part);
    return typeof part === "bigint" ? String(part) : part;
  });
}

function toObject(parts: unknown): unknown {
  if (!Array.isArray(parts) || typeof parts[0] !== "string" || typeof parts[1] !== "string") return parts;
  return new PythonObject(parts[0], parts[1], parts[2]);
}

/** An array of numpy: how it is laid out, and its bytes. */
function toArray(parts: unknown): unknown {
  if (!Array.isArray(parts)) return parts;
  const [dtype, shape, order, data] = parts;
  return { dtype, shape, order, data };
}

function unknownExtension({ type, data }: ExtData): string {
  const bytes = typeof data === "function" ? data(0) : data;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `[a value of the unknown type ${type}: ${digits}]`;
}

function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new TypeError("A value that is no bytes.");
}
