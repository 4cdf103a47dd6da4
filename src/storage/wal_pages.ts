// The pages that a `-wal` file has committed (sqlite.org/fileformat.html, section 4), without SQLite.
const HEADER = 32;
const FRAME_HEADER = 24;
/** The last bit says in which byte order the checksums are made. */
const MAGIC = 0x377f0682;

export interface WalPages {
  /** Undefined when there is nothing in it. */
  size?: number;
  /** By page number, the newest committed one. */
  pages: Map<number, Uint8Array>;
}

/** Reads frames up to the first that is not whole: SQLite does the same after a crash. */
export function walPages(wal: Uint8Array): WalPages {
  const pages = new Map<number, Uint8Array>();
  if (wal.length < HEADER) return { pages };
  const view = new DataView(wal.buffer, wal.byteOffset, wal.length);
  const magic = view.getUint32(0);
  if ((magic & ~1) >>> 0 !== MAGIC) return { pages };
  const bigEndian = (magic & 1) === 1;
  const size = view.getUint32(8);
  if (size < 512 || size > 65_536 || (size & (size - 1)) !== 0) return { pages };
  const sum = (from: number, to: number, start: [number, number]): [number, number] => {
    let [a, b] = start;
    for (let at = from; at < to; at += 8) {
      a = (a + view.getUint32(at, !bigEndian) + b) >>> 0;
      b = (b + view.getUint32(at + 4, !bigEndian) + a) >>> 0;
    }
    return [a, b];
  };
  let checksum = sum(0, 24, [0, 0]);
  let uncommitted = new Map<number, Uint8Array>();
  for (let at = HEADER; at + FRAME_HEADER + size <= wal.length; at += FRAME_HEADER + size) {
    const data = at + FRAME_HEADER;
    checksum = sum(data, data + size, sum(at, at + 8, checksum));
    const same = [8, 12].every((field) => view.getUint32(at + field) === view.getUint32(field + 8));
    if (!same || checksum[0] !== view.getUint32(at + 16) || checksum[1] !== view.getUint32(at + 20)) break;
    uncommitted.set(view.getUint32(at), wal.subarray(data, data + size));
    if (view.getUint32(at + 4) === 0) continue;
    for (const [number, page] of uncommitted) pages.set(number, page);
    uncommitted = new Map();
  }
  return { size, pages };
}
