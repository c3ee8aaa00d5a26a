/** Acts of the caller: possible ones with a form, and others with the rule or state that refuses them. */
import type { ComponentChildren } from 'preact';
import { type Api, addressWith } from '../server/api';
import type { Session } from '../server/session';
import type { CanAnswer } from '../views';
import { ActForm, Reason, Send } from './forms';
import { Facts } from './texts';

/** At most one object. A node with a rollout is a target of it. */
export type Ask = { readonly rule: string } & Readonly<Partial<Record<'node' | 'run' | 'runbook' | 'rollout', string>>>;

/** Subject of a link to the policy page. */
type About = { readonly kind: 'node' | 'run' | 'runbook' | 'rollout'; readonly object: string; readonly node?: string }; // biome-ignore format: one row

export type Answers = ReadonlyMap<string, CanAnswer>;

const mostAsks = 100;

/** Permissions of the caller by rule, for each list of queries. */
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
  /** Reason why the state refuses it; undefined if it permits it. */
  readonly stateSays?: ComponentChildren;
  /** Effect of the act. */
  readonly will: string;
  readonly danger?: boolean;
  readonly withoutReason?: boolean;
  /** Hidden fields of the form. */
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

/** Reason of a refusal, with a link to the policy page. @param about object of the query */
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

/** @param id identifies the offers: an unchanged id keeps typed text when the page is reloaded */
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
