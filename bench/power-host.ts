/** One worker's power sync as a process of its own, so that its processor time is not counted with anything else. */
import { runPowerSync } from '../src/activities/power-sync';
import { createDrivers } from '../src/bmc';
import { createLanes } from '../src/bmc/lane';
import { createInventory } from '../src/inventory';
import { connect } from '../src/inventory/database';
import { createOpener } from '../src/inventory/secrets/sealing';
import { answerParent } from './child';

export type PowerQuestion =
  | {
      readonly is: 'begin';
      /** Of the database. */
      readonly url: string;
      readonly conductor_group: string;
      readonly everyMs: number;
      /** The most looks at once. */
      readonly places: number;
      /** The private key that the nodes' secrets open with, in base64. */
      readonly key: string;
    }
  | { readonly is: 'look' };

/** Looks since the beginning, by how they ended. */
export type PowerAnswer = { readonly looks: Readonly<Record<string, number>>; readonly resident_mib: number };

const looks: Record<string, number> = {};
const ending = new AbortController();
let done: Promise<unknown> = Promise.resolve();

const begin = ({ url, key, places, ...options }: Extract<PowerQuestion, { is: 'begin' }>): void => {
  const inventory = createInventory(connect(url, { max: 10, name: 'bench-power' }));
  const log = { info() {}, warn() {} };
  const drivers = createDrivers({ log, networks: [] });
  const syncing = runPowerSync(
    {
      inventory,
      vault: createOpener(new Map([['bench', Buffer.from(key, 'base64')]])),
      driverOf: (name) => drivers.get(name),
      lanes: createLanes(),
      log,
    },
    {
      ...options,
      signal: ending.signal,
      drivers: ['redfish'],
      workers: places,
      maxFailures: 3,
      looked: (_node, how) => {
        looks[how] = (looks[how] ?? 0) + 1;
      },
    },
  );
  done = syncing.then(() => inventory.close());
};

const answer = async (question: PowerQuestion): Promise<PowerAnswer> => {
  if (question.is === 'begin') begin(question);
  return { looks: { ...looks }, resident_mib: process.memoryUsage().rss / 2 ** 20 };
};

answerParent(answer, async () => {
  ending.abort();
  await done;
});
