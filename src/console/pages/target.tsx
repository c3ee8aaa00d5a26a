/** Page of one node of a rollout: the request to its tenant, the reason for its wait, and acts. */
import {
  type TargetAct,
  targetActs,
  targetDid,
  targetStateSays,
  targetWill,
  whyNotBegun,
} from '../../model/rollouts/rollout-acts';
import type { ProjectWindow } from '../../wire/records';
import type { Rollout, RolloutTarget } from '../../wire/rollouts';
import { Acts, type Answers, askedRules, Done, type Offer, whyOff } from '../parts/acts';
import { Live } from '../parts/live';
import { Facts, Id, NodeLink, Notice, State, Time, Title } from '../parts/texts';
import { TitledSection } from '../parts/titled-section';
import { ApiRefusal } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { addressSaying } from '../server/session';
import { ConsentCard, RequestFacts, type TypedAnswer } from './consent';
import { rolloutEvents } from './rollout';
import { mended, stepsIn } from './rollout-mend';
import { failedTargets, mendOffer } from './rollout-needs';
import { targetAddress, targetWord, tookText } from './rollout-nodes';
import { rolloutAddress, rolloutTitle } from './rollouts';
import { timeIn } from './utc-times';

const targetLabels: Readonly<Record<TargetAct, string>> = { consent: 'Consent', refuse: 'Refuse', skip: 'Skip', retry: 'Retry' }; // biome-ignore format: one row

const targetOffers = (rollout: Rollout, target: RolloutTarget): Offer[] =>
  targetActs.map((act) => ({
    name: act,
    label: targetLabels[act],
    rule: `temper:rollout:${act === 'consent' || act === 'refuse' ? 'answer' : act}`,
    stateSays: targetStateSays(act, target, rollout),
    will: targetWill[act],
    danger: act === 'refuse' || act === 'skip',
    fields: { node: target.node_uuid },
  }));

const TargetFacts = ({ target, rollout }: { target: RolloutTarget; rollout: Rollout }) => (
  <Facts
    rows={[
      ['Rollout', <a href={rolloutAddress(rollout)}>{rolloutTitle(rollout)}</a>],
      ['Node', <NodeLink uuid={target.node_uuid} name={target.node_name} to={`/nodes/${target.node_uuid}`} />],
      ['Wave', target.wave],
      ['Code', target.code],
      ['Rule', target.rule],
      ['Run', target.run && <Id id={target.run} href={`/runs/${target.run}`} />],
      ['Not before', target.state !== 'asked' && target.not_before && <Time at={target.not_before} />],
      ['Took', tookText(target)],
      ['Observed until', target.soak_until && <Time at={target.soak_until} />],
      ['Ended', target.ended_at && <Time at={target.ended_at} />],
      ['Retry requested', target.retry_requested_at && <Time at={target.retry_requested_at} />],
    ]}
  />
);

const targetData = async ({ api, params }: PageContext) => {
  const path = `/temper/v1/rollouts/${encodeURIComponent(params.rollout!)}`;
  const position = Number(params.position);
  const rollout = await api.get<Rollout>(path);
  const marker = position > 0 ? position - 1 : undefined;
  const [target] = await api.list<RolloutTarget>(`${path}/targets`, { limit: 1, marker });
  if (target?.position !== position) throw new ApiRefusal(404, 'The rollout has no such node.');
  const asks = ['answer', 'skip', 'retry'].map((act) => ({ rule: `temper:rollout:${act}`, rollout: rollout.uuid, node: target.node_uuid })); // biome-ignore format: one list
  const [answers, windows = [], [failed]] = await Promise.all([
    askedRules(api, asks),
    api.findList<ProjectWindow>('/temper/v1/windows'),
    failedTargets(api, rollout, [target]),
  ]);
  return { rollout, target, answers, windows, failed };
};

type TargetData = Awaited<ReturnType<typeof targetData>>;
type ShownProps = { readonly data: TargetData; readonly session: PageContext['session']; readonly typed?: TypedAnswer };

const mendPossible = ({ failed }: TargetData): { offers: Offer[]; answers: Answers } =>
  failed && failed.mend.steps.length > 1
    ? { offers: [mendOffer(failed, 'target')], answers: failed.answers }
    : { offers: [], answers: new Map() };

const TargetActs = ({ data, session, typed }: ShownProps) => {
  const { rollout, target, answers, windows } = data;
  const address = targetAddress(rollout, target);
  const about = { kind: 'rollout', object: rollout.uuid, node: target.node_uuid } as const;
  const offers = targetOffers(rollout, target);
  const [consent, refusal] = offers;
  const mayAnswer = whyOff(consent!, answers, about) === undefined;
  const mend = mendPossible(data);
  return (
    <>
      {mayAnswer && <ConsentCard address={address} rollout={rollout} target={target} windows={windows} session={session} refusal={refusal!} typed={typed} />}
      <Acts
        id="acts"
        offers={[...mend.offers, ...(mayAnswer ? offers.slice(2) : offers)]}
        answers={new Map([...answers, ...mend.answers])}
        about={about}
        session={session}
        actionOf={(offer) => `${address}/${offer.name}`}
      />
    </>
  );
}; // biome-ignore format: short parts

const Shown = ({ data, session, typed }: ShownProps) => {
  const { rollout, target } = data;
  const name = target.node_name ?? target.node_uuid;
  const why = whyNotBegun(rollout, target, Date.now()) ?? target.reason;
  return (
    <Live id="target" path={targetAddress(rollout, target)} events={rolloutEvents(rollout)}>
      <Title text={name} says={`${name}: ${targetWord(target)}`}>
        <State is={targetWord(target)} tone={target.retry_requested_at ? 'wait' : undefined} />
      </Title>
      {why && <Notice tone="wait" says={why} />}
      <TargetActs data={data} session={session} typed={typed} />
      <TitledSection title="Request">
        <RequestFacts rollout={rollout} target={target} />
      </TitledSection>
      <TitledSection title="In the rollout">
        <TargetFacts target={target} rollout={rollout} />
      </TitledSection>
    </Live>
  );
};

const pageOfTarget = (data: TargetData, { session, query }: PageContext, typed?: TypedAnswer): PageAnswer => {
  const { rollout, target } = data;
  const body = (
    <>
      <Done session={session} query={query} />
      {typed?.fault && <Notice tone="bad" role="alert" says={`Not recorded: ${typed.fault}`} />}
      <Shown data={data} session={session} typed={typed} />
    </>
  );
  const title = target.node_name ?? target.node_uuid;
  return { title, crumbs: [[rolloutAddress(rollout), rolloutTitle(rollout)]], body };
};

export const targetPage = async (context: PageContext): Promise<PageAnswer> =>
  pageOfTarget(await targetData(context), context);

const answerIn = (form: FormContext['form']) => {
  const [window, reason] = [fieldOf(form, 'window'), fieldOf(form, 'reason')];
  // An empty time is refused: it must not become consent to work at once.
  const at = form.at === undefined ? { now: true } : { at: timeIn(fieldOf(form, 'at')) };
  const when = window ? { in: window } : at;
  return { ...when, ...(reason && { reason }) };
};

/** The page with what was typed. Throws other refusals. */
const answerRefused = async (context: FormContext, thrown: unknown): Promise<PageAnswer> => {
  if (!(thrown instanceof ApiRefusal && thrown.status === 400)) throw thrown;
  const { form } = context;
  const fault = thrown.says.replace(/^at: /, '').replace(/^in: /, 'The window ');
  const typed = { at: form.at === undefined ? undefined : fieldOf(form, 'at'), reason: fieldOf(form, 'reason'), fault };
  return { ...pageOfTarget(await targetData(context), context, typed), status: 400 };
};

type TargetPlace = { readonly rollout: string; readonly position: string };
const addressedTarget = ({ rollout = '', position = '' }: FormContext['params']): TargetPlace => ({ rollout: encodeURIComponent(rollout), position: encodeURIComponent(position) }); // biome-ignore format: one row

const mendTarget = async ({ api, params, form, session }: FormContext): Promise<PageAnswer> => {
  const { rollout, position } = addressedTarget(params);
  const [node, reason, key] = [fieldOf(form, 'node'), fieldOf(form, 'reason'), fieldOf(form, 'key')];
  const order = { rollout: params.rollout!, node, reason, key };
  const did = await mended(api, stepsIn(fieldOf(form, 'steps')), order);
  const page = fieldOf(form, 'from') === 'rollout' ? `/rollouts/${rollout}` : `/rollouts/${rollout}/targets/${position}`;
  return { to: did ? addressSaying(session, page, did) : page };
}; // biome-ignore format: short lines

const isTargetAct = (act: string): act is TargetAct => (targetActs as readonly string[]).includes(act);

export const actOnTarget = async (context: FormContext): Promise<PageAnswer> => {
  const { api, params, form, session } = context;
  const { act = '' } = params;
  const { rollout, position } = addressedTarget(params);
  const page = `/rollouts/${rollout}/targets/${position}`;
  if (act === 'mend') return mendTarget(context);
  if (!isTargetAct(act)) return { to: page };
  const body = act === 'consent' ? answerIn(form) : { reason: fieldOf(form, 'reason') };
  const path = `/temper/v1/rollouts/${rollout}/targets/${encodeURIComponent(fieldOf(form, 'node'))}/${act}`;
  try {
    const target = await api.send<RolloutTarget>('POST', path, body, fieldOf(form, 'key') || undefined);
    return { to: addressSaying(session, page, targetDid(act, target)) };
  } catch (thrown) {
    if (act !== 'consent') throw thrown;
    return answerRefused(context, thrown);
  }
};
