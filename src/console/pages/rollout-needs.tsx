/** Nodes of a rollout that need a person: failed ones with one guided act, parked ones, and skipped ones. */
import { targetStateSays } from '../../model/rollouts/rollout-acts';
import { endedRollouts } from '../../model/rollouts/states';
import type { Rollout, RolloutTarget } from '../../wire/rollouts';
import { ActDialog, type Answers, askedLists, type Offer, whyOff } from '../parts/acts';
import { Icon } from '../parts/icons';
import { NodeLink, State, Time } from '../parts/texts';
import type { Api } from '../server/api';
import type { PageContext } from '../server/context';
import type { NodeView } from '../views';
import { mostNodes } from './rollout-draft';
import { type Mend, mendAsks, mendFields, mendLabels, mendOf, mendRules } from './rollout-mend';
import { targetAddress } from './rollout-nodes';
import { rolloutAddress } from './rollouts';

/** Of each state; the list below the waves has all. */
const mostNeeding = 5;

type FailedTarget = { readonly target: RolloutTarget; readonly mend: Mend; readonly answers: Answers };

const nodeOf = (api: Api, { node_uuid }: RolloutTarget) =>
  api.find<NodeView>(`/v1/nodes/${encodeURIComponent(node_uuid)}`, { fields: mendFields });

/** Failed targets that can be retried, and that no retry was requested for. */
export const failedTargets = async (api: Api, rollout: Rollout, targets: readonly RolloutTarget[]): Promise<readonly FailedTarget[]> => {
  const open = targets.filter((target) => !target.retry_requested_at && targetStateSays('retry', target, rollout) === undefined);
  if (open.length === 0) return [];
  const [nodes, answers] = await Promise.all([
    Promise.all(open.map((target) => nodeOf(api, target))),
    askedLists(api, open.map(({ node_uuid }) => mendAsks(rollout.uuid, node_uuid))),
  ]);
  return open.map((target, at) => {
    const node = nodes[at];
    return { target, answers: answers[at]!, mend: node ? mendOf(rollout, node) : { steps: ['retry'] } };
  });
}; // biome-ignore format: short lines

/** @param rollout as whole as its people see it */
export const needsData = async ({ api }: Pick<PageContext, 'api'>, rollout: Rollout) => {
  const listed = (state: RolloutTarget['state']): Promise<readonly RolloutTarget[]> =>
    rollout.states?.[state]
      ? api.list<RolloutTarget>(`/temper/v1${rolloutAddress(rollout)}/targets`, { state, limit: mostNeeding })
      : Promise.resolve([]);
  const [failed, parked] = await Promise.all([listed('failed'), listed('parked')]);
  return { failed: await failedTargets(api, rollout, failed), parked };
};

type Needs = Awaited<ReturnType<typeof needsData>>;

const mendText = ({ steps }: Mend): string => steps.map((step) => mendLabels[step]).join(' → ');

/** @param from page that shows the result */
export const mendOffer = ({ target, mend }: FailedTarget, from: 'rollout' | 'target'): Offer => {
  const [first, ...also] = mendRules(mend.steps);
  return {
    name: 'mend',
    label: mend.steps.length > 1 ? 'Repair and retry' : 'Retry',
    rule: first!,
    also,
    stateSays: mend.stateSays,
    will: `Does, in this order: ${mendText(mend)}.`,
    fields: { node: target.node_uuid, steps: mend.steps.join(','), from },
  };
};

type FailedProps = { readonly rollout: Rollout; readonly failed: FailedTarget; readonly session: PageContext['session']; readonly primary: boolean }; // biome-ignore format: one row

const Failed = ({ rollout, failed, session, primary }: FailedProps) => {
  const { target, mend, answers } = failed;
  const offer = mendOffer(failed, 'rollout');
  const id = `mend-${target.position}`;
  const why = whyOff(offer, answers, { kind: 'rollout', object: rollout.uuid, node: target.node_uuid });
  return (
    <li>
      <header>
        <State is={target.state} />
        <h3><NodeLink uuid={target.node_uuid} name={target.node_name} to={targetAddress(rollout, target)} /></h3>
        <span class="muted"><Time at={target.ended_at} /></span>
      </header>
      <p class="cause">{target.reason ?? target.code}</p>
      {why === undefined ? (
        <div class="acts">
          <button type="button" class={primary ? 'primary' : undefined} popovertarget={id}>{offer.label}…</button>
          <span class="muted">{mendText(mend)}</span>
          <ActDialog offer={offer} session={session} action={`${targetAddress(rollout, target)}/mend`} id={id} />
        </div>
      ) : <p class="muted">{why}</p>}
    </li>
  );
}; // biome-ignore format: short parts

const Parked = ({ rollout, target }: { rollout: Rollout; target: RolloutTarget }) => (
  <li>
    <header>
      <State is={target.state} />
      <h3><NodeLink uuid={target.node_uuid} name={target.node_name} to={targetAddress(rollout, target)} /></h3>
    </header>
    <p class="cause">{target.reason}</p>
    {target.run && <div class="acts"><a class="button" href={`/runs/${target.run}`}>Decide on its run</a></div>}
  </li>
); // biome-ignore format: short parts

const nodesText = (many: number): string => `${many} ${many === 1 ? 'node' : 'nodes'}`;

/** A rollout does not come back to nodes that it skipped. */
const Skipped = ({ rollout, many }: { rollout: Rollout; many: number }) => (
  <li>
    <header>
      <State is="skipped" />
      <h3><a href={`${rolloutAddress(rollout)}?state=skipped`}>{nodesText(many)} skipped</a></h3>
    </header>
    <p class="muted">This rollout does not return to {many === 1 ? 'it' : 'them'}.</p>
    <div class="acts">
      <a class="button" href={`/rollouts/new?from=${rollout.uuid}&state=skipped`}><Icon is="plus" />Plan a rollout for {many > mostNodes ? `the first ${mostNodes}` : `the ${many}`}</a>
    </div>
  </li>
); // biome-ignore format: short parts

const More = ({ rollout, state, more }: { rollout: Rollout; state: string; more: number }) =>
  more <= 0 ? null : (
    <li>
      <a href={`${rolloutAddress(rollout)}?state=${state}`}>
        {more} more {state}
      </a>
    </li>
  );

type NeedsProps = { readonly rollout: Rollout; readonly needs: Needs; readonly session: PageContext['session'] };

/** Shows nothing if no node needs a person. */
export const NeedsCard = ({ rollout, needs: { failed, parked }, session }: NeedsProps) => {
  const { failed: allFailed = 0, parked: allParked = 0, skipped = 0 } = rollout.states ?? {};
  // Failed nodes whose retry was requested are in neither number.
  const moreFailed = endedRollouts.includes(rollout.state) ? 0 : allFailed - failed.length;
  if (failed.length + moreFailed + parked.length + skipped === 0) return null;
  return (
    <section class="card needs" id="needs">
      <h2>Needs you</h2>
      <ul class="lines">
        {parked.map((target) => <Parked key={target.position} rollout={rollout} target={target} />)}
        <More rollout={rollout} state="parked" more={allParked - parked.length} />
        {failed.map((one, at) => <Failed key={one.target.position} rollout={rollout} failed={one} session={session} primary={at === 0} />)}
        <More rollout={rollout} state="failed" more={moreFailed} />
        {skipped > 0 && <Skipped rollout={rollout} many={skipped} />}
      </ul>
    </section>
  );
}; // biome-ignore format: short parts
