/** Page of one node of a rollout: reason for its wait, and acts. */
import { type TargetAct, targetActs, targetStateSays, targetWill, whyNotBegun } from '../../model/rollouts/rollout-acts'; // biome-ignore format: one line
import type { ProjectWindow } from '../../wire/records';
import type { Rollout, RolloutTarget } from '../../wire/rollouts';
import { Acts, askedRules, type Offer } from '../parts/acts';
import { Choice, Field } from '../parts/forms';
import { Live } from '../parts/live';
import { Facts, Id, NodeLink, Notice, State, spanOf, Time, Title } from '../parts/texts';
import { ApiRefusal } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { rolloutEvents, targetAddress } from './rollout';
import { rolloutAddress, rolloutTitle } from './rollouts';

const targetLabels: Readonly<Record<TargetAct, string>> = { consent: 'Consent', refuse: 'Refuse', skip: 'Skip', retry: 'Retry' }; // biome-ignore format: one row

const When = ({ windows }: { windows: readonly ProjectWindow[] }) => (
  <>
    <Choice
      label="When"
      name="window"
      options={[
        ['', 'now, or at the time below'],
        ...windows.map(({ uuid, name }) => [uuid, `in window ${name}`] as const),
      ]}
    />
    <Field label="At (UTC)" name="at" type="datetime-local" hint="Optional" />
  </>
);

const targetOffers = (rollout: Rollout, target: RolloutTarget, windows: readonly ProjectWindow[]): Offer[] =>
  targetActs.map((act) => ({
    name: act,
    label: targetLabels[act],
    rule: `temper:rollout:${act === 'consent' || act === 'refuse' ? 'answer' : act}`,
    stateSays: targetStateSays(act, target, rollout),
    will: targetWill[act],
    danger: act === 'refuse' || act === 'skip',
    more: act === 'consent' && <When windows={windows} />,
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
      ['Power', target.power_cycles > 0 ? 'restarts' : 'stays on'],
      ['Data', target.erases ? 'erased' : 'kept'],
      ['Usually takes', target.expected_ms && spanOf(target.expected_ms)],
      [target.state === 'asked' ? 'Answer by' : 'Not before', target.not_before && <Time at={target.not_before} />],
      ['Observed until', target.soak_until && <Time at={target.soak_until} />],
      ['Ended', target.ended_at && <Time at={target.ended_at} />],
    ]}
  />
);

export const targetPage = async ({ api, params, session }: PageContext): Promise<PageAnswer> => {
  const path = `/temper/v1/rollouts/${encodeURIComponent(params.rollout!)}`;
  const position = Number(params.position);
  const rollout = await api.get<Rollout>(path);
  const marker = position > 0 ? position - 1 : undefined;
  const [target] = await api.list<RolloutTarget>(`${path}/targets`, { limit: 1, marker });
  if (target?.position !== position) throw new ApiRefusal(404, 'The rollout has no such node.');
  const asks = ['answer', 'skip', 'retry'].map((act) => ({ rule: `temper:rollout:${act}`, rollout: rollout.uuid, node: target.node_uuid })); // biome-ignore format: one list
  const [answers, windows = []] = await Promise.all([
    askedRules(api, asks),
    api.findList<ProjectWindow>('/temper/v1/windows'),
  ]);
  const [address, name] = [targetAddress(rollout, target), target.node_name ?? target.node_uuid];
  const why = whyNotBegun(rollout, target, Date.now()) ?? target.reason;
  const body = (
    <Live id="target" path={address} events={rolloutEvents(rollout)}>
      <Title text={name} says={`${name}: ${target.state}`}>
        <State is={target.state} />
      </Title>
      {why && <Notice tone="wait" says={why} />}
      <Acts
        id="acts"
        offers={targetOffers(rollout, target, windows)}
        answers={answers}
        about={{ kind: 'rollout', object: rollout.uuid, node: target.node_uuid }}
        session={session}
        actionOf={(offer) => `${address}/${offer.name}`}
      />
      <TargetFacts target={target} rollout={rollout} />
    </Live>
  );
  return { title: name, crumbs: [[rolloutAddress(rollout), rolloutTitle(rollout)]], body };
};

/** The browser's field has no zone; the page says that it means UTC. */
const timeIn = (at: string): string => {
  const ms = /^[\d-]+T[\d:.]+$/.test(at) ? Date.parse(`${at}Z`) : Number.NaN;
  return Number.isNaN(ms) ? at : new Date(ms).toISOString();
};

const answerIn = (form: FormContext['form']) => {
  const [window, at] = [fieldOf(form, 'window'), fieldOf(form, 'at')];
  return window ? { in: window } : at ? { at: timeIn(at) } : { now: true };
};

export const actOnTarget = async ({ api, params, form }: FormContext): Promise<PageAnswer> => {
  const { rollout = '', position = '', act = '' } = params;
  const base = `/rollouts/${encodeURIComponent(rollout)}/targets`;
  const to = { to: `${base}/${encodeURIComponent(position)}` };
  if (!(targetActs as readonly string[]).includes(act)) return to;
  const body = { reason: fieldOf(form, 'reason'), ...(act === 'consent' && answerIn(form)) };
  const path = `/temper/v1${base}/${encodeURIComponent(fieldOf(form, 'node'))}/${act}`;
  await api.send('POST', path, body, fieldOf(form, 'key') || undefined);
  return to;
};
