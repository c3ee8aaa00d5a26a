/** Acts of the caller: a form, or the rule or state that refuses. */
import type { ComponentChildren } from 'preact';
import type { CanAnswer } from '../../wire/policy';
import { type Api, addressWith } from '../server/api';
import type { Session } from '../server/session';
import { ActForm, Reason, Send } from './forms';
import { Facts } from './texts';

/** At most one object. A node with a rollout is a target of it. */
export type Ask = { readonly rule: string } & Readonly<Partial<Record<'node' | 'run' | 'runbook' | 'rollout', string>>>;

type About = { readonly kind: 'node' | 'run' | 'runbook' | 'rollout'; readonly object: string; readonly node?: string }; // biome-ignore format: one row

export type Answers = ReadonlyMap<string, CanAnswer>;

const mostAsks = 100;

export const askedLists = async (api: Api, lists: readonly (readonly Ask[])[]): Promise<readonly Answers[]> => {
  const asks = lists.flat();
  const parts = Array.from({ length: Math.ceil(asks.length / mostAsks) }, (_, at) =>
    api.send<{ answers: readonly CanAnswer[] }>('POST', '/temper/v1/policy/can', {
      asks: asks.slice(at * mostAsks, (at + 1) * mostAsks),
    }),
  );
  const answers = (await Promise.all(parts)).flatMap((part) => part.answers);
  let from = 0;
  return lists.map((list) => {
    const own = answers.slice(from, from + list.length);
    from += list.length;
    return new Map(own.map((answer) => [answer.rule, answer]));
  });
};

export const askedRules = async (api: Api, asks: readonly Ask[]): Promise<Answers> =>
  (await askedLists(api, [asks]))[0]!;

export type Offer = {
  readonly name: string;
  readonly label: string;
  readonly rule: string;
  /** Reason of a refusal by the state; undefined if it permits the act. */
  readonly stateSays?: ComponentChildren;
  readonly will: string;
  readonly danger?: boolean;
  readonly withoutReason?: boolean;
  readonly fields?: Readonly<Record<string, string>>;
  /** Further inputs of the form. */
  readonly more?: ComponentChildren;
};

const OfferedAct = ({ offer, session, action }: { offer: Offer; session: Session; action: string }) => (
  <details class="act">
    <summary>{offer.label}</summary>
    <p>{offer.will}</p>
    <ActForm session={session} action={action} fields={offer.fields} class="row">
      {offer.more}
      {!offer.withoutReason && <Reason />}
      <Send tone={offer.danger ? 'danger' : 'primary'} label={offer.label} />
    </ActForm>
  </details>
);

/** Links to the policy page. @param about object of the query */
export const Refused = ({ answer: { rule, reason }, about }: { answer: CanAnswer; about?: About }) => (
  <>
    {reason ?? `The rule ${rule} does not admit you.`} <a href={addressWith('/policy', { rule, ...about })}>Why?</a>
  </>
);

const whyOff = (offer: Offer, answer: CanAnswer | undefined, about?: About): ComponentChildren =>
  answer && !answer.allowed ? <Refused answer={answer} about={about} /> : offer.stateSays;

type ActsProps = {
  readonly id: string;
  readonly offers: readonly Offer[];
  readonly answers: Answers;
  readonly session: Session;
  readonly actionOf: (offer: Offer) => string;
  readonly about: About;
};

/** @param id an unchanged id keeps typed text when the page is reloaded */
export const Acts = ({ id, offers, answers, session, actionOf, about }: ActsProps) => {
  const rows = offers.map((offer) => ({ offer, why: whyOff(offer, answers.get(offer.rule), about) }));
  const off = rows.flatMap(({ offer, why }) => (why === undefined ? [] : [[offer.label, why] as const]));
  return (
    <div id={id} hx-preserve="true">
      <div class="acts">
        {rows
          .filter(({ why }) => why === undefined)
          .map(({ offer }) => (
            <OfferedAct key={offer.name} offer={offer} session={session} action={actionOf(offer)} />
          ))}
      </div>
      {off.length > 0 && (
        <details open={off.length === rows.length}>
          <summary>What is not possible, and why ({off.length})</summary>
          <Facts rows={off} />
        </details>
      )}
    </div>
  );
};
