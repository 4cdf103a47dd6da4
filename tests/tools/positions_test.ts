// Places on the canvas.
import assert from "node:assert/strict";
import { DISTANCE, freePosition, type Point } from "../../src/tools/positions.ts";

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

// G10
Deno.test("freePosition starts an empty lab at the origin and survives odd coordinates", () => {
  assert.deepEqual(freePosition([]), { x: 0, y: 0 });
  assert.deepEqual(freePosition([{ x: NaN, y: Infinity }]), { x: 0, y: 0 });
});

// G10
Deno.test("freePosition keeps every new node at least 250 away from all others, and near them", () => {
  const taken: Point[] = [{ x: -301, y: 17 }, { x: -100, y: 0 }, { x: 99, y: 0 }, { x: 0, y: 151 }];
  for (let i = 0; i < 60; i++) {
    const place = freePosition(taken);
    assert.ok(Number.isInteger(place.x) && Number.isInteger(place.y));
    for (const other of taken) {
      assert.ok(distance(place, other) >= DISTANCE, `${i}: ${JSON.stringify([place, other])}`);
    }
    assert.ok(Math.abs(place.x) < 2_500 && Math.abs(place.y) < 2_500);
    taken.push(place);
  }
});

Deno.test("freePosition finds a place in a dense lab", () => {
  const dense = Array.from({ length: 400 }, (_, i) => ({ x: (i % 20) * 60, y: Math.floor(i / 20) * 60 }));
  const place = freePosition(dense);
  assert.ok(dense.every((other) => distance(place, other) >= DISTANCE));
});
