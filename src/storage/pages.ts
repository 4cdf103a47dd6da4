// Reads rows straight from a database file's pages (sqlite.org/fileformat.html), for files that SQLite does not open any
// more. It trusts nothing: what does not fit is left out.
import { walPages } from "./wal_pages.ts";

/** A row as it stands in a table's or an index's tree. Integers that a number cannot hold are bigints. */
export interface RawRow {
  /** Only rows of ordinary tables have one; those of WITHOUT ROWID tables and of indexes do not. */
  rowid?: number;
  values: (null | number | bigint | string | Uint8Array)[];
}

const HEADER = 100;
const TREE = { indexInterior: 2, indexLeaf: 10, tableLeaf: 13 } as const;
const DEFAULT_PAGE_SIZE = 4096;

/** Every row that can be read from `file` with what its `-wal` file (empty: none) has committed, in no order. */
export function* rowsOf(file: Uint8Array, wal: Uint8Array): Generator<RawRow> {
  const pages = new Pages(file, wal);
  for (const number of pages.numbers()) {
    const page = pages.page(number);
    if (page) yield* rowsIn(page, number === 1 ? HEADER : 0, pages);
  }
}

/** The page size that a header tells, or undefined when it cannot be one. */
function pageSizeOf(header: Uint8Array, at: number): number | undefined {
  if (header.length < at + 2) return undefined;
  const told = new DataView(header.buffer, header.byteOffset).getUint16(at);
  const size = told === 1 ? 65_536 : told;
  return size >= 512 && (size & (size - 1)) === 0 ? size : undefined;
}

class Pages {
  readonly size: number;
  readonly #file: Uint8Array;
  readonly #newer: Map<number, Uint8Array>;

  constructor(file: Uint8Array, wal: Uint8Array) {
    const { size, pages } = walPages(wal);
    this.#file = file;
    this.#newer = pages;
    this.size = size ?? pageSizeOf(file, 16) ?? DEFAULT_PAGE_SIZE;
  }

  /** All bytes together: no row is longer. */
  get bytes(): number {
    return this.#file.length + this.#newer.size * this.size;
  }

  *numbers(): Generator<number> {
    const inFile = Math.floor(this.#file.length / this.size);
    for (let number = 1; number <= inFile; number++) yield number;
    for (const number of this.#newer.keys()) if (number > inFile) yield number;
  }

  page(number: number): Uint8Array | undefined {
    const newer = this.#newer.get(number);
    if (newer) return newer;
    const page = this.#file.subarray((number - 1) * this.size, number * this.size);
    return number > 0 && page.length === this.size ? page : undefined;
  }
}

function* rowsIn(page: Uint8Array, start: number, pages: Pages): Generator<RawRow> {
  const view = new DataView(page.buffer, page.byteOffset, page.length);
  const kind = page[start]!;
  if (!Object.values<number>(TREE).includes(kind)) return;
  const cells = view.getUint16(start + 3);
  const pointers = start + (kind === TREE.indexInterior ? 12 : 8);
  for (let i = 0; i < cells && pointers + 2 * i + 2 <= page.length; i++) {
    try {
      const row = readCell(page, view.getUint16(pointers + 2 * i), kind, pages);
      if (row) yield row;
    } catch (error) {
      // Beyond the page's end.
      if (!(error instanceof RangeError)) throw error;
    }
  }
}

function readCell(page: Uint8Array, start: number, kind: number, pages: Pages): RawRow | undefined {
  const cursor = new Cursor(page, kind === TREE.indexInterior ? start + 4 : start);
  const length = cursor.varint();
  const rowid = kind === TREE.tableLeaf ? cursor.varint() : undefined;
  const payload = readPayload(cursor, length, kind, pages);
  const values = payload && readRecord(payload);
  return values && { values, ...(rowid === undefined ? {} : { rowid }) };
}

/** A cell's bytes, those on overflow pages too; undefined when some of them are not there. */
function readPayload(cursor: Cursor, length: number, kind: number, pages: Pages): Uint8Array | undefined {
  // SQLite could leave bytes at the end of each page unused; nobody makes it do so.
  const usable = pages.size;
  const most = kind === TREE.tableLeaf ? usable - 35 : Math.floor((usable - 12) * 64 / 255) - 23;
  if (length <= most) return cursor.bytes(length);
  if (length > pages.bytes) return undefined;
  const least = Math.floor((usable - 12) * 32 / 255) - 23;
  const fitting = least + (length - least) % (usable - 4);
  const payload = new Uint8Array(length);
  const local = cursor.bytes(fitting <= most ? fitting : least);
  payload.set(local);
  let next = cursor.uint32();
  for (let at = local.length; at < length;) {
    const page = pages.page(next);
    if (!page) return undefined;
    const part = page.subarray(4, Math.min(usable, 4 + length - at));
    payload.set(part, at);
    at += part.length;
    next = new Cursor(page, 0).uint32();
  }
  return payload;
}

function readRecord(payload: Uint8Array): RawRow["values"] | undefined {
  const header = new Cursor(payload, 0);
  const end = header.varint();
  if (end > payload.length) return undefined;
  const body = new Cursor(payload, end);
  const values: RawRow["values"] = [];
  while (header.at < end) {
    const value = readValue(body, header.varint());
    if (value === undefined) return undefined;
    values.push(value);
  }
  return body.at === payload.length ? values : undefined;
}

/** Bytes of the whole numbers that types 1 to 6 stand for. */
const WIDTHS = [0, 1, 2, 3, 4, 6, 8];

function readValue(body: Cursor, type: number): RawRow["values"][number] | undefined {
  if (type === 0) return null;
  if (type === 7) return body.float();
  if (type === 8 || type === 9) return type - 8;
  if (type < 7) return body.integer(WIDTHS[type]!);
  if (type < 12) return undefined;
  const bytes = body.bytes(Math.floor((type - 12) / 2));
  if (type % 2 === 0) return bytes.slice();
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Reads bytes one after the other; a RangeError at their end. */
class Cursor {
  readonly #view: DataView;

  constructor(private readonly data: Uint8Array, public at: number) {
    this.#view = new DataView(data.buffer, data.byteOffset, data.length);
  }

  varint(): number {
    let value = 0n;
    for (let i = 0; i < 9; i++) {
      const byte = this.#view.getUint8(this.at++);
      if (i === 8) return Number(BigInt.asIntN(64, (value << 8n) | BigInt(byte)));
      value = (value << 7n) | BigInt(byte & 0x7f);
      if (byte < 0x80) break;
    }
    return Number(value);
  }

  uint32(): number {
    this.at += 4;
    return this.#view.getUint32(this.at - 4);
  }

  bytes(length: number): Uint8Array {
    if (!(length >= 0 && this.at + length <= this.data.length)) throw new RangeError();
    this.at += length;
    return this.data.subarray(this.at - length, this.at);
  }

  integer(width: number): number | bigint {
    let value = 0n;
    for (const byte of this.bytes(width)) value = (value << 8n) | BigInt(byte);
    const signed = BigInt.asIntN(8 * width, value);
    return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed;
  }

  float(): number {
    this.at += 8;
    return this.#view.getFloat64(this.at - 8);
  }
}
