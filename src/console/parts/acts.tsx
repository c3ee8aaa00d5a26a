/** What the caller may do: each act with its reason and what will follow, and what is off with the rule or the state that has it so. */
import type { ComponentChildren } from 'preact';
import { type Api, addressWith } from '../server/api';
import type { Session } from '../server/session';
import type { CanAnswer } from '../views';
import { ActForm, Reason, Send } from './forms';
import { Facts } from './texts';

/** At most one object; a node beside a rollout is its target. */
export type Ask = { readonly rule: string } & Readonly<Partial<Record<'node' | 'run' | 'runbook' | 'rollout', string>>>;

/** What a page of the policy can be asked about. */
type About = { readonly kind: 'node' | 'run' | 'runbook' | 'rollout'; readonly object: string; readonly node?: string }; // biome-ignore format: one row

export type Answers = ReadonlyMap<string, CanAnswer>;

const mostAsks = 100;

/** For each list of asks the answers of the API to what the caller may do, by rule. */
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

/** The same for one list. */
export const askedRules = async (api: Api, asks: readonly Ask[]): Promise<Answers> =>
  (await askedLists(api, [asks]))[0]!;

export type Offer = {
  readonly name: string;
  readonly label: string;
  readonly rule: string;
  /** Why the state does not allow it; undefined where it does. */
  readonly stateSays?: ComponentChildren;
  /** What will follow. */
  readonly will: string;
  readonly danger?: boolean;
  readonly withoutReason?: boolean;
  /** Hidden fields beside the reason. */
  readonly fields?: Readonly<Record<string, string>>;
  /** What else the form asks for. */
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

/** Why a rule refuses, with the way to ask more. @param about what it was asked about */
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

/** @param id names what is offered: the same id keeps what was typed while the page goes on */
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
