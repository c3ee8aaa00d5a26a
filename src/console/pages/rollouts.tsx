/** List of rollouts, newest first. */
import { rolloutStates } from '../../model/rollouts/states';
import type { Rollout } from '../../wire/rollouts';
import { type List, listPage } from '../parts/list';
import { personOf, State, Time } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';

export const rolloutAddress = ({ uuid }: { uuid: string }): string => `/rollouts/${uuid}`;
export const workOf = ({ verb, runbook }: Rollout): string =>
  runbook ? `${verb}: ${runbook.name}, revision ${runbook.revision}` : verb;
export const rolloutTitle = (rollout: Rollout): string => rollout.name ?? workOf(rollout);

const rollouts: List<Rollout> = {
  title: 'Rollouts',
  path: '/rollouts',
  from: '/temper/v1/rollouts',
  filters: [{ name: 'state', label: 'State', options: rolloutStates }],
  markerOf: ({ uuid }) => uuid,
  columns: [
    { title: 'Rollout', of: (one) => <a href={rolloutAddress(one)}>{one.name ?? one.uuid.slice(0, 8)}</a> },
    { title: 'State', of: ({ state }) => <State is={state} /> },
    { title: 'Why', of: ({ reason, code }) => reason ?? code },
    { title: 'Work', of: workOf },
    { title: 'Wave', of: ({ wave, waves_total }) => wave && `${wave} of ${waves_total}` },
    { title: 'Project', of: ({ project }) => project },
    { title: 'Asked by', of: ({ requester }) => personOf(requester) },
    { title: 'Planned', of: ({ created_at }) => <Time at={created_at} /> },
  ],
  empty:
    'There is no rollout that you may see: one runbook or verb on many nodes, in waves, within a budget of failures.',
  events: '/live',
  around: async () => ({ aside: <a href="/rollouts/new">Plan one</a> }),
};

export const rolloutsPage = (context: PageContext): Promise<PageAnswer> => listPage(context, rollouts);
