/** The request of a rollout to the project that uses a node: who, why, what happens, how long, and the answers to it. */
import type { ProjectWindow } from '../../wire/records';
import type { Rollout, RolloutTarget, TargetAnswer } from '../../wire/rollouts';
import { ActDialog, type Offer } from '../parts/acts';
import { ActForm, Field, Lines } from '../parts/forms';
import { Facts, personOf, spanOf, Time } from '../parts/texts';
import type { PageContext } from '../server/context';
import { workOf } from './rollouts';

const effectsOf = ({ power_cycles, erases }: RolloutTarget): string =>
  [power_cycles > 0 ? 'It restarts the node' : 'The node stays on', erases ? 'and erases its disks' : 'and keeps its data'].join(' '); // biome-ignore format: one sentence

/** `service: CUSTOM_FW, revision 1. It restarts the node and keeps its data, in about 1 min. “fixes a CVE”.` */
export const requestText = (rollout: Rollout, target: RolloutTarget): string => {
  const { expected_ms, request } = target;
  const usual = expected_ms ? `, in about ${spanOf(expected_ms)}` : '';
  return `${workOf(rollout)}. ${effectsOf(target)}${usual}.${request.reason ? ` Reason: ${request.reason}.` : ''}`;
};

export const answerText = ({ answer, at, window }: TargetAnswer): string => {
  switch (answer) {
    case 'now':
      return 'Consent: now';
    case 'at':
      return `Consent: from ${at?.slice(0, 16).replace('T', ' ')} UTC`;
    case 'in':
      return window ? `Consent: in the window ${window}` : 'Consent: in a window that was deleted';
    case 'refuse':
      return 'Refused';
  }
};

export const RequestFacts = ({ rollout, target }: { rollout: Rollout; target: RolloutTarget }) => {
  const { request, answer, expected_ms, p95_ms, power_cycles, erases } = target;
  return (
    <Facts
      rows={[
        ['Who asks', personOf(request.by)],
        ['Why', request.reason],
        ['Work', workOf(rollout)],
        ['Power', power_cycles > 0 ? 'restarts' : 'stays on'],
        ['Data', erases ? 'erased' : 'kept'],
        ['Usually takes', expected_ms && spanOf(expected_ms)],
        ['At most (95 of 100)', p95_ms && spanOf(p95_ms)],
        ['Answer by', target.state === 'asked' && target.not_before && <Time at={target.not_before} />],
        ['Answer', answer && answerText(answer)],
        ['Answered by', answer && <>{personOf(answer.by)}, <Time at={answer.given_at} /></>],
        ['Reason of the answer', answer?.reason],
      ]}
    />
  );
}; // biome-ignore format: one table

const dayFormat = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit', timeZone: 'UTC' }); // biome-ignore format: one row

/** `nights: Sat 02:00 UTC`, or that it is open. */
const windowText = ({ name, open, opens_at }: ProjectWindow): string =>
  `In window ${name}: ${open ? 'open now' : `${dayFormat.format(new Date(opens_at)).replace(',', '')} UTC`}`;

type AnswerFormProps = {
  readonly action: string;
  readonly node: string;
  readonly session: PageContext['session'];
  readonly windows: readonly ProjectWindow[];
};

/** The typed values of a refused answer; `at` is undefined if no time was asked for. */
export type TypedAnswer = { readonly at: string | undefined; readonly reason: string; readonly fault?: string };

const mostWindows = 4;

const formId = 'consent-form';

const WhenButtons = ({ windows }: { windows: readonly ProjectWindow[] }) => (
  <>
    <button type="submit" form={formId} class="primary" name="window" value="">
      Now
    </button>
    {windows.slice(0, mostWindows).map((window) => (
      <button key={window.uuid} type="submit" form={formId} name="window" value={window.uuid}>
        {windowText(window)}
      </button>
    ))}
  </>
);

const AtForm = ({ action, node, session, typed }: Omit<AnswerFormProps, 'windows'> & { typed?: TypedAnswer }) => (
  <ActForm session={session} action={action} class="form" fields={{ node }}>
    <Field
      label="At (UTC)"
      name="at"
      type="datetime-local"
      value={typed?.at}
      fault={typed?.at === undefined ? undefined : typed.fault}
      required
    />
    <Field label="Reason" hint="Optional" name="reason" value={typed?.reason} />
    <div class="acts">
      <button type="submit" class="primary">
        Consent from this time
      </button>
    </div>
  </ActForm>
);

type ConsentProps = Omit<AnswerFormProps, 'action' | 'node'> & {
  readonly address: string;
  readonly rollout: Rollout;
  readonly target: RolloutTarget;
  readonly refusal: Offer;
  readonly typed?: TypedAnswer;
};

const Question = ({ rollout, target }: { rollout: Rollout; target: RolloutTarget }) => (
  <>
    <h2>
      {personOf(target.request.by)} asks to work on {target.node_name ?? target.node_uuid.slice(0, 8)}
    </h2>
    <p>{requestText(rollout, target)}</p>
    {target.state === 'asked' && (
      <p class="muted">
        Without an answer <Time at={target.not_before} />, the rollout skips the node, unless a rule lets it work
        without consent.
      </p>
    )}
  </>
);

/** Every button is an answer. An answer can be changed until the work begins. */
export const ConsentCard = ({ address, rollout, target, windows, session, refusal, typed }: ConsentProps) => {
  const given = { action: `${address}/consent`, node: target.node_uuid, session };
  return (
    <section class={target.state === 'asked' ? 'card wait consent' : 'card consent'} aria-label="Consent" id="consent">
      <Question rollout={rollout} target={target} />
      {target.answer && <p><b>{answerText(target.answer)}</b> <span class="muted">by {personOf(target.answer.by)}, <Time at={target.answer.given_at} />. You can change it until the work begins.</span></p>}
      <ActForm session={session} action={given.action} id={formId} fields={{ node: target.node_uuid }}>
        {/* In a line, Enter would send the first button, which consents now. */}
        <Lines label="Reason" hint="Optional" name="reason" value={typed?.reason} />
      </ActForm>
      <div class="acts">
        <WhenButtons windows={windows} />
        {!typed && <button type="button" popovertarget="consent-at">At…</button>}
        <button type="button" class="danger" popovertarget="refuse">Refuse…</button>
        <ActDialog offer={refusal} session={session} action={`${address}/refuse`} id="refuse" />
      </div>
      {typed ? <AtForm {...given} typed={typed} /> : <div id="consent-at" popover="auto" role="dialog" aria-label="Consent from a time"><AtForm {...given} /></div>}
    </section>
  );
}; // biome-ignore format: short parts
