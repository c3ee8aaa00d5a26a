/** The list of rollouts, newest first. */
import type { VNode } from 'preact';
import { rolloutStates } from '../../model/rollouts/states';
import { Choice } from '../parts/forms';
import { Live } from '../parts/live';
import { type Column, Pager, pageOf, pageSize, Table } from '../parts/tables';
import { State, Time } from '../parts/texts';
import type { PageAnswer, PageContext, PageQuery } from '../server/context';
import type { RolloutView } from '../views';

/** How often pages of rollouts are fetched again: pauses and approvals are no events of a node. */
export const rolloutEveryS = 5;

export const rolloutAddress = ({ uuid }: { uuid: string }): string => `/rollouts/${uuid}`;
export const workOf = ({ verb, runbook }: RolloutView): string =>
  runbook ? `${verb}: ${runbook.name}, revision ${runbook.revision}` : verb;
export const rolloutTitle = (rollout: RolloutView): string => rollout.name ?? workOf(rollout);

const listedColumns: readonly Column<RolloutView>[] = [
  { title: 'Rollout', of: (one) => <a href={rolloutAddress(one)}>{one.name ?? one.uuid.slice(0, 8)}</a> },
  { title: 'State', of: ({ state }) => <State is={state} /> },
  { title: 'Why', of: ({ reason, code }) => reason ?? code },
  { title: 'Work', of: workOf },
  { title: 'Wave', of: ({ wave, waves_total }) => (wave === undefined ? '–' : `${wave} of ${waves_total}`) },
  { title: 'Project', of: ({ project }) => project ?? '–' },
  { title: 'Asked by', of: ({ requester }) => requester?.user_name ?? requester?.user_id ?? '–' },
  { title: 'Planned', of: ({ created_at }) => <Time at={created_at} /> },
];

export const rolloutsPage = async ({ api, query }: PageContext): Promise<PageAnswer> => {
  const wanted: PageQuery = { state: query.state || undefined, marker: query.marker };
  const { rollouts } = await api.get<{ rollouts: readonly RolloutView[] }>('/temper/v1/rollouts', {
    ...wanted,
    limit: pageSize + 1,
  });
  const { shown, next } = pageOf(rollouts, pageSize, ({ uuid }) => uuid);
  const body: VNode = (
    <>
      <h1>Rollouts</h1>
      <form method="get" action="/rollouts" class="row" aria-label="Filters">
        <Choice
          label="State"
          name="state"
          value={query.state}
          options={[['', 'any'], ...rolloutStates.map((state) => [state, state] as const)]}
        />
        <button type="submit">Filter</button>
      </form>
      <Live id="rollouts" events="/live" path="/rollouts" query={wanted} everyS={rolloutEveryS}>
        <Table
          caption="Rollouts"
          rows={shown}
          keyOf={({ uuid }) => uuid}
          columns={listedColumns}
          empty={
            <>
              There is no such rollout that you may see. One is planned by <code>temper rollouts plan</code>: one
              runbook or verb on many nodes, in waves, within a budget of failures.
            </>
          }
        />
        <Pager path="/rollouts" query={wanted} next={next} />
      </Live>
    </>
  );
  return { title: 'Rollouts', body };
};
