// Figures out of samples.

/** The value below which a share `p` of the samples lies. */
export function quantile(samples: readonly number[], p: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? NaN;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

export function round(value: number, digits = 1): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
