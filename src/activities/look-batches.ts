/** Batched database access of power probes, because many nodes are due at once. */
import DataLoader from 'dataloader';
import type { Inventory } from '../inventory';
import type { LaneEntry } from '../inventory/leases';
import type { BoxedSecret } from '../inventory/secrets/sealing';

const most = 200;
// Probes end one by one; their leases are released together.
const leaveWithinMs = 50;

type Lane = { readonly lane: string; readonly holder: string; readonly ms: number };

const gathered = <Key, Value>(
  ask: (keys: readonly Key[]) => Promise<readonly Value[]>,
  schedule?: (go: () => void) => void,
): DataLoader<Key, Value> =>
  new DataLoader(ask, { cache: false, maxBatchSize: most, ...(schedule && { batchScheduleFn: schedule }) });

const secretsOf = ({ secrets }: Inventory) =>
  gathered<string, BoxedSecret | undefined>(async (ids) => {
    const found = new Map((await secrets.read([...new Set(ids)])).map((row) => [row.id, row]));
    return ids.map((id) => found.get(id));
  });

const over = <T extends object>(whole: T, some: Partial<T>): T => Object.assign(Object.create(whole) as T, some);

/** All leases taken through the result share holder and duration. */
export const inBatches = (inventory: Inventory): Inventory => {
  const { bmcLeases, secrets } = inventory;
  const reading = secretsOf(inventory);
  const entering = gathered<Lane, LaneEntry>((lanes) =>
    bmcLeases.enterAll(
      lanes.map(({ lane }) => lane),
      lanes[0]!.holder,
      lanes[0]!.ms,
    ),
  );
  const leaving = gathered<Omit<Lane, 'ms'>, void>(
    async (lanes) => {
      await bmcLeases.leaveAll(
        lanes.map(({ lane }) => lane),
        lanes[0]!.holder,
      );
      return lanes.map(() => undefined);
    },
    (go) => void setTimeout(go, leaveWithinMs),
  );
  return over(inventory, {
    secrets: over(secrets, {
      read: async (ids: readonly string[]) =>
        (await Promise.all(ids.map((id) => reading.load(id)))).filter((row) => row !== undefined),
    }),
    bmcLeases: over(bmcLeases, {
      enter: (lane: string, holder: string, ms: number) => entering.load({ lane, holder, ms }),
      release: (lane: string, holder: string) => leaving.load({ lane, holder }),
    }),
  });
};
