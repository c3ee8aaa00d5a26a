/** List of rollouts, newest first. */
import { rolloutStates } from '../../model/rollouts/states';
import type { Rollout } from '../../wire/rollouts';
import { Icon } from '../parts/icons';
import { type List, listPage } from '../parts/list';
import { Empty, Project, personOf, State, Time } from '../parts/texts';
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
    { title: 'Why', long: true, of: ({ reason, code }) => reason ?? code },
    { title: 'Work', of: workOf },
    { title: 'Wave', of: ({ wave, waves_total }) => wave && `${wave} of ${waves_total}` },
    { title: 'Project', of: ({ project }) => project && <Project id={project} /> },
    { title: 'Planned by', of: ({ requester }) => personOf(requester) },
    { title: 'Planned', of: ({ created_at }) => <Time at={created_at} /> },
  ],
  views: [
    ['All', {}],
    ['Running', { state: 'running' }],
    ['Paused', { state: 'paused' }],
    ['To approve', { state: 'awaiting_approval' }],
  ],
  newsOf: (one) => ({ key: one.uuid, says: `${rolloutTitle(one)}: ${one.state}` }),
  empty: (
    <Empty icon="waves" title="No rollouts yet">
      <p>A rollout runs one runbook or action on many nodes, in waves, within a budget of failures.</p>
    </Empty>
  ),
  events: '/live',
  around: async () => ({
    end: (
      <a class="button primary" href="/rollouts/new">
        <Icon is="plus" />
        Plan a rollout
      </a>
    ),
  }),
};

export const rolloutsPage = (context: PageContext): Promise<PageAnswer> => listPage(context, rollouts);
