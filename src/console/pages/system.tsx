/** System page: workers, recovery and ramdisks, as far as the caller may see them. */

import type { Recovery, Summary } from '../../wire/installation';
import type { Ramdisk } from '../../wire/records';
import { Table } from '../parts/tables';
import { Empty, Facts, Notice, State, Time, Title } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import type { WorkerView } from '../views';

type Version = { readonly default_version?: { readonly version?: string } };

const workerColumns = [
  { title: 'Worker', of: ({ hostname }: WorkerView) => hostname },
  { title: 'State', of: ({ alive }: WorkerView) => <State is={alive ? 'online' : 'offline'} tone={alive ? 'good' : 'bad'} /> }, // biome-ignore format: one cell
  { title: 'Conductor group', of: (worker: WorkerView) => worker.conductor_group || 'default' },
  { title: 'Drivers', of: ({ drivers }: WorkerView) => drivers?.join(', ') },
  { title: 'Last seen', of: ({ updated_at }: WorkerView) => <Time at={updated_at} /> },
];

const ramdiskColumns = [
  { title: 'Name', of: ({ name }: Ramdisk) => name },
  { title: 'Architecture', of: ({ arch }: Ramdisk) => arch },
];

export const systemPage = async ({ api }: PageContext): Promise<PageAnswer> => {
  const [root, workers, recovery, ramdisks, summary] = await Promise.all([
    api.find<Version>('/'),
    api.findList<WorkerView>('/v1/conductors', { detail: 'true' }),
    api.find<Recovery>('/temper/v1/recovery'),
    api.findList<Ramdisk>('/temper/v1/ramdisks', { limit: 1_000 }),
    api.find<Summary>('/temper/v1/summary'),
  ]);
  const held = recovery?.recovery;
  const facts = [
    ['API version', root?.default_version?.version],
    ['Nodes', summary?.nodes.count],
    ['In maintenance', summary?.nodes.maintenance],
    ['Open runs', summary && Object.values(summary.runs.phase).reduce((sum, one) => sum + one, 0)],
    ['Held back since', held && <Time at={held.since} />],
    ['Recovery', recovery && (held ? held.side : 'none')],
  ] as const;
  const body = (
    <>
      <Title text="System" />
      {held && <Notice tone="bad" role="alert" says={`Recovery: all work is held back. ${held.reason}`} />}
      <Facts rows={facts} />
      <Table heading caption="Workers" rows={workers} columns={workerColumns} empty="No workers yet" />
      <Table heading caption="Ramdisks" rows={ramdisks} columns={ramdiskColumns} empty={<Empty title="No ramdisks"><code>temper ramdisk add</code></Empty>} />
    </>
  ); // biome-ignore format: one table a row
  return { title: 'System', body };
};
