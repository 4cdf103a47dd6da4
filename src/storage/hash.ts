// A cheap hash to find equal texts by; equal hashes are always followed by a comparison.

/**
 * A 48-bit number that differs for most different lists of texts (FNV-1a in two lanes). Of a long text only its length
 * and both ends count.
 */
export function hashOf(...texts: string[]): number {
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (const text of texts) {
    for (const part of text.length > 1000 ? [text.slice(0, 500), text.slice(-500)] : [text]) {
      for (let i = 0; i < part.length; i++) {
        high = Math.imul(high ^ part.charCodeAt(i), 0x01000193);
        low = Math.imul(low + part.charCodeAt(i), 0x85ebca6b) ^ (low >>> 13);
      }
    }
    high = Math.imul(high ^ text.length, 0x01000193);
    low = Math.imul(low ^ text.length, 0x85ebca6b);
  }
  return (high >>> 16) * 0x100000000 + (low >>> 0);
}
