/** Inbox: rollouts that wait for a decision, and nodes that wait for their tenant's consent. */

import type { Rollout, RolloutTarget } from '../../wire/rollouts';
import { askedLists } from '../parts/acts';
import { personOf, State, Time } from '../parts/texts';
import type { Api } from '../server/api';
import type { PageContext } from '../server/context';
import { requestText } from './consent';
import { RolloutActs, rolloutAsks } from './rollout';
import { targetAddress } from './rollout-nodes';
import { rolloutAddress, rolloutTitle } from './rollouts';

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

export type WaitingRollouts = Awaited<ReturnType<typeof waitingRollouts>>;

export const AskedCard = ({ rollout, target }: WaitingRollouts['asked'][number]) => {
  const node = target.node_name ?? target.node_uuid;
  const key = `asked-${rollout.uuid}-${target.position}`;
  return (
    <li class="card" id={key} data-key={key} data-says={`${rolloutTitle(rollout)} asks for ${node}`}>
      <header>
        <State is="asked" />
        <h3>
          <a href={targetAddress(rollout, target)}>{personOf(target.request.by)} asks to work on {node}</a>
        </h3>
      </header>
      <p class="cause">{requestText(rollout, target)} The answer is due <Time at={target.not_before} />.</p>
      <div class="acts"><a class="button primary" href={targetAddress(rollout, target)}>Answer</a></div>
    </li>
  );
}; // biome-ignore format: short parts

type CardProps = WaitingRollouts['decisions'][number] & { readonly session: PageContext['session'] };

export const RolloutCard = ({ rollout, answers, session }: CardProps) => (
  <li class="card" id={`rollout-${rollout.uuid}`} data-key={rollout.uuid} data-says={`${rolloutTitle(rollout)}: ${rollout.state}`}>
    <header>
      <State is={rollout.state} />
      <h3>
        <a href={rolloutAddress(rollout)}>{rolloutTitle(rollout)}</a>
      </h3>
      <span class="muted"><Time at={rollout.updated_at ?? rollout.created_at} /></span>
    </header>
    {rollout.reason && <p class="cause">{rollout.reason}</p>}
    <RolloutActs rollout={rollout} answers={answers} session={session} />
  </li>
); // biome-ignore format: short parts
