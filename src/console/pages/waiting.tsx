/** Start page: rollouts that wait for a decision, and nodes that wait for their tenant's consent. */

import type { Rollout, RolloutTarget } from '../../wire/rollouts';
import { askedLists } from '../parts/acts';
import { personOf, State, Time } from '../parts/texts';
import type { Api } from '../server/api';
import type { PageContext } from '../server/context';
import { RolloutActs, rolloutAsks, targetAddress } from './rollout';
import { rolloutAddress, rolloutTitle, workOf } from './rollouts';

const mostAsked = 10;

const rolloutsIn = async (api: Api, state: string): Promise<readonly Rollout[]> =>
  (await api.findList<Rollout>('/temper/v1/rollouts', { state, limit: mostAsked })) ?? [];

const askedIn = async (api: Api, rollout: Rollout) => {
  const path = `/temper/v1${rolloutAddress(rollout)}/targets`;
  const found = await api.findList<RolloutTarget>(path, { state: 'asked', limit: mostAsked });
  return (found ?? []).map((target) => ({ rollout, target }));
};

const answerRule = 'temper:rollout:answer';

/** Reads only the newest rollouts of each state. */
export const waitingRollouts = async ({ api }: PageContext) => {
  const [awaiting, scheduled, paused, running] = await Promise.all(
    ['awaiting_approval', 'scheduled', 'paused', 'running'].map((state) => rolloutsIn(api, state)),
  );
  // If the caller sees only its own nodes, others decide about the rollout.
  const whole = [...awaiting!, ...scheduled!, ...paused!].filter(({ plan_hash }) => plan_hash !== undefined);
  const asked = (await Promise.all([...running!, ...paused!].map((rollout) => askedIn(api, rollout)))).flat();
  const answers = await askedLists(api, [
    ...whole.map(({ uuid }) => rolloutAsks(uuid)),
    ...asked.map(({ rollout, target }) => [{ rule: answerRule, rollout: rollout.uuid, node: target.node_uuid }]),
  ]);
  return {
    decisions: whole.map((rollout, at) => ({ rollout, answers: answers[at]! })),
    asked: asked.filter((_, at) => answers[whole.length + at]?.get(answerRule)?.allowed),
  };
};

type Waiting = Awaited<ReturnType<typeof waitingRollouts>>;

export const WaitingRollouts = ({ waiting, session }: { waiting: Waiting; session: PageContext['session'] }) => (
  <ul class="cards">
    {waiting.asked.map(({ rollout, target }) => (
      <li key={target.node_uuid} id={`asked-${target.node_uuid}`} class="card">
        <header>
          <State is="asked" />
          <h3>
            <a href={targetAddress(rollout, target)}>{rolloutTitle(rollout)} needs your consent for {target.node_name ?? target.node_uuid}</a>
          </h3>
        </header>
        <p class="muted">{personOf(rollout.requester)} asks for {workOf(rollout)}. Answer <Time at={target.not_before} /> at the latest.</p>
      </li>
    ))}
    {waiting.decisions.map(({ rollout, answers }) => (
      <li key={rollout.uuid} id={`rollout-${rollout.uuid}`} class="card">
        <header>
          <State is={rollout.state} />
          <h3>
            <a href={rolloutAddress(rollout)}>{rolloutTitle(rollout)}</a>
          </h3>
        </header>
        {rollout.reason && <p class="wait">{rollout.reason}</p>}
        <RolloutActs rollout={rollout} answers={answers} session={session} />
      </li>
    ))}
  </ul>
); // biome-ignore format: short parts
