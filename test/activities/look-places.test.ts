/** The places of a worker for looks at power: how many are free, and one look at a node at a time. */
import { createLookPlaces } from '../../src/activities/look-places';

/** Looks that end when they are let go, by node. */
const held = () => {
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  const look = (node: string) => () => {
    begun.push(node);
    return new Promise<void>((end) => ends.set(node, end));
  };
  return { begun, look, end: (node: string) => ends.get(node)!() };
};
const never = new AbortController().signal;

test('a node that is looked at takes one place, however often it is due meanwhile', async () => {
  const places = createLookPlaces(2);
  const { begun, look, end } = held();
  places.take('n1', look('n1'));
  places.take('n1', look('n1'));
  expect([begun, places.free()]).toEqual([['n1'], 1]);
  places.take('n2', look('n2'));
  expect(places.free()).toBe(0);
  const one = places.someFree(1, never);
  end('n1');
  await one;
  expect(places.free()).toBe(1);
  places.take('n1', look('n1'));
  expect(begun).toEqual(['n1', 'n2', 'n1']);
  end('n1');
  end('n2');
  await places.ended();
  expect(places.free()).toBe(2);
});

test('who waits for a place waits no longer than its signal', async () => {
  const places = createLookPlaces(1);
  const { look, end } = held();
  places.take('n1', look('n1'));
  const ending = new AbortController();
  const waiting = places.someFree(1, ending.signal);
  ending.abort();
  await waiting;
  expect(places.free()).toBe(0);
  end('n1');
  await places.ended();
});
