// Where new nodes go on the canvas, so that nothing lands on anything else.

export interface Point {
  x: number;
  y: number;
}

/** GNS3's symbols are about 60 wide, their labels wider; at this distance links and names stay readable. */
export const DISTANCE = 250;

/**
 * A free place at least `DISTANCE` from all of `taken`, as near to their middle as possible; the origin when there is
 * none. Whole numbers, never NaN. The candidates are a square grid around the middle, looked at from inside out.
 */
export function freePosition(taken: Point[]): Point {
  const points = taken.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
  if (points.length === 0) return { x: 0, y: 0 };
  const middle = {
    x: Math.round(points.reduce((sum, { x }) => sum + x, 0) / points.length),
    y: Math.round(points.reduce((sum, { y }) => sum + y, 0) / points.length),
  };
  // A point blocks at most nine grid places, so this many rings cannot all be blocked.
  const rings = Math.ceil(1.5 * Math.sqrt(points.length)) + 2;
  for (let ring = 0; ring <= rings; ring++) {
    const free = ringAround(middle, ring).filter((place) =>
      points.every((point) => distance(place, point) >= DISTANCE)
    );
    free.sort((a, b) => distance(a, middle) - distance(b, middle));
    if (free[0]) return free[0];
  }
  return { x: Math.max(...points.map(({ x }) => x)) + DISTANCE, y: middle.y };
}

function ringAround(middle: Point, ring: number): Point[] {
  const places: Point[] = [];
  for (let column = -ring; column <= ring; column++) {
    for (let row = -ring; row <= ring; row++) {
      if (Math.max(Math.abs(column), Math.abs(row)) !== ring) continue;
      places.push({ x: middle.x + column * DISTANCE, y: middle.y + row * DISTANCE });
    }
  }
  return places;
}

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);
