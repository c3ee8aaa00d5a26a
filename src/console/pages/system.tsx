/** The system: workers, what a restore holds back, webhooks, ramdisks; as far as the caller may see it. */
import { Table } from '../parts/tables';
import { Facts, Notice, State, Time } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import type { Fields, SummaryView, WorkerView } from '../views';

type Recovery = { readonly recovery: Fields<'side' | 'reason' | 'since', string> | null };
type Webhook = { readonly url: string; readonly kinds: readonly string[]; readonly enabled: boolean };
type Ramdisk = Fields<'name' | 'arch', string>;
type Version = { readonly default_version?: { readonly version?: string } };

const hidden = 'Not for you to see: it is shown to readers of the system.';
const workerColumns = [
  { title: 'Worker', of: ({ hostname }: WorkerView) => hostname },
  { title: 'State', of: ({ alive }: WorkerView) => <State is={alive ? 'alive' : 'away'} tone={alive ? 'good' : 'bad'} /> }, // biome-ignore format: one cell
  { title: 'Conductor group', of: (worker: WorkerView) => worker.conductor_group || 'default' },
  { title: 'Drivers', of: ({ drivers }: WorkerView) => drivers?.join(', ') },
  { title: 'Last seen', of: ({ updated_at }: WorkerView) => <Time at={updated_at} /> },
];

const webhookColumns = [
  { title: 'Address', of: ({ url }: Webhook) => url },
  { title: 'Of', of: ({ kinds }: Webhook) => kinds.join(', ') || 'all events' },
  {
    title: 'State',
    of: ({ enabled }: Webhook) => <State is={enabled ? 'enabled' : 'disabled'} tone={enabled ? 'good' : 'idle'} />,
  },
];

const ramdiskColumns = [
  { title: 'Name', of: ({ name }: Ramdisk) => name },
  { title: 'Architecture', of: ({ arch }: Ramdisk) => arch },
];

export const systemPage = async ({ api }: PageContext): Promise<PageAnswer> => {
  const [root, workers, recovery, webhooks, ramdisks, summary] = await Promise.all([
    api.find<Version>('/'),
    api.find<{ conductors: readonly WorkerView[] }>('/v1/conductors', { detail: 'true' }),
    api.find<Recovery>('/temper/v1/recovery'),
    api.find<{ webhooks: readonly Webhook[] }>('/temper/v1/webhooks'),
    api.find<{ ramdisks: readonly Ramdisk[] }>('/temper/v1/ramdisks'),
    api.find<SummaryView>('/temper/v1/summary'),
  ]);
  const held = recovery?.recovery;
  const facts = [
    ['API version', root?.default_version?.version],
    ['Nodes that you may see', summary?.nodes.count],
    ['of them in maintenance', summary?.nodes.maintenance],
    ['Runs that go on', summary && Object.values(summary.runs.phase).reduce((sum, one) => sum + one, 0)],
    ['After a restore', recovery && (held ? held.side : 'nothing is held back')],
  ] as const;
  const body = (
    <>
      <h1>System</h1>
      {held && (
        <Notice tone="bad" role="alert">
          Everything is held back since <Time at={held.since} />: {held.reason}
        </Notice>
      )}
      <Facts rows={facts} />
      <Table
        heading
        caption="Workers"
        rows={workers?.conductors ?? []}
        columns={workerColumns}
        empty={workers ? 'No worker has ever reported: start one.' : hidden}
      />
      <Table
        heading
        caption="Webhooks"
        rows={webhooks?.webhooks ?? []}
        columns={webhookColumns}
        empty={
          webhooks
            ? 'There is no webhook. One has events sent to an address: temper webhooks, or POST /temper/v1/webhooks.'
            : hidden
        }
      />
      <Table
        heading
        caption="Ramdisks"
        rows={ramdisks?.ramdisks ?? []}
        columns={ramdiskColumns}
        empty={ramdisks ? 'There is no ramdisk record: temper ramdisk add.' : hidden}
      />
    </>
  );
  return { title: 'System', body };
};
