/** The system: workers, drivers, what a restore holds back, webhooks, ramdisks; as far as the caller may see it. */
import type { VNode } from 'preact';
import { Table } from '../parts/tables';
import { Facts, State, Time } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';

type Worker = {
  readonly hostname: string;
  readonly conductor_group: string;
  readonly alive: boolean;
  readonly drivers?: readonly string[];
  readonly updated_at?: string;
};
type Recovery = {
  readonly recovery: { readonly side: string; readonly reason: string; readonly since: string } | null;
};
type Webhook = {
  readonly uuid: string;
  readonly url: string;
  readonly kinds: readonly string[];
  readonly enabled: boolean;
};
type Ramdisk = { readonly uuid: string; readonly name: string; readonly arch: string; readonly created_at?: string };
type Version = { readonly default_version?: { readonly version?: string } };
type Summary = {
  readonly nodes: { readonly count: number; readonly maintenance: number };
  readonly runs: { readonly phase: Readonly<Record<string, number>> };
};

const systemData = async ({ api }: PageContext) => {
  const [root, workers, recovery, webhooks, ramdisks, summary] = await Promise.all([
    api.find<Version>('/'),
    api.find<{ conductors: readonly Worker[] }>('/v1/conductors', { detail: 'true' }),
    api.find<Recovery>('/temper/v1/recovery'),
    api.find<{ webhooks: readonly Webhook[] }>('/temper/v1/webhooks'),
    api.find<{ ramdisks: readonly Ramdisk[] }>('/temper/v1/ramdisks'),
    api.find<Summary>('/temper/v1/summary'),
  ]);
  return { root, workers, recovery, webhooks, ramdisks, summary };
};

const hidden = 'Not for you to see: it is shown to readers of the system.';

const workerColumns = [
  { title: 'Worker', of: ({ hostname }: Worker) => hostname },
  { title: 'State', of: ({ alive }: Worker) => <State is={alive ? 'alive' : 'away'} tone={alive ? 'good' : 'bad'} /> },
  { title: 'Conductor group', of: ({ conductor_group }: Worker) => conductor_group || 'default' },
  { title: 'Drivers', of: ({ drivers }: Worker) => drivers?.join(', ') },
  { title: 'Last seen', of: ({ updated_at }: Worker) => <Time at={updated_at} /> },
];

const webhookColumns = [
  { title: 'Address', of: ({ url }: Webhook) => url },
  { title: 'Of', of: ({ kinds }: Webhook) => kinds.join(', ') || 'all events' },
  {
    title: 'State',
    of: ({ enabled }: Webhook) => <State is={enabled ? 'enabled' : 'disabled'} tone={enabled ? 'good' : 'idle'} />,
  },
];

export const systemPage = async (context: PageContext): Promise<PageAnswer> => {
  const { root, workers, recovery, webhooks, ramdisks, summary } = await systemData(context);
  const held = recovery?.recovery;
  const body: VNode = (
    <>
      <h1>System</h1>
      {held && (
        <p role="alert" class="notice bad">
          Everything is held back since <Time at={held.since} />: {held.reason}
        </p>
      )}
      <Facts
        rows={[
          ['API version', root?.default_version?.version],
          ['Nodes that you may see', summary?.nodes.count],
          ['of them in maintenance', summary?.nodes.maintenance],
          ['Runs that go on', summary && Object.values(summary.runs.phase).reduce((sum, one) => sum + one, 0)],
          ['After a restore', recovery ? (held ? held.side : 'nothing is held back') : null],
        ]}
      />
      <h2>Workers</h2>
      <Table
        caption="Workers"
        rows={workers?.conductors ?? []}
        keyOf={({ hostname }) => hostname}
        columns={workerColumns}
        empty={workers ? 'No worker has ever reported: start one.' : hidden}
      />
      <h2>Webhooks</h2>
      <Table
        caption="Webhooks"
        rows={webhooks?.webhooks ?? []}
        keyOf={({ uuid }) => uuid}
        columns={webhookColumns}
        empty={
          webhooks
            ? 'There is no webhook. One has events sent to an address: temper webhooks, or POST /temper/v1/webhooks.'
            : hidden
        }
      />
      <h2>Ramdisks</h2>
      <Table
        caption="Ramdisks"
        rows={ramdisks?.ramdisks ?? []}
        keyOf={({ uuid }) => uuid}
        columns={[
          { title: 'Name', of: ({ name }) => name },
          { title: 'Architecture', of: ({ arch }) => arch },
        ]}
        empty={ramdisks ? 'There is no ramdisk record: temper ramdisk add.' : hidden}
      />
    </>
  );
  return { title: 'System', body };
};
