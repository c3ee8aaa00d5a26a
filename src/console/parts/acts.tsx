/** Acts of the caller: a form, or the rule or state that refuses. */
import type { ComponentChildren } from 'preact';
import type { CanAnswer } from '../../wire/policy';
import { type Api, addressWith, type PageQuery } from '../server/api';
import { proofOf, type Session } from '../server/session';
import { ActForm, Reason, Send } from './forms';
import { Facts, Notice } from './texts';

/** At most one object. A node with a rollout is a target of it. */
export type Ask = { readonly rule: string } & Readonly<Partial<Record<'node' | 'run' | 'runbook' | 'rollout', string>>>;

type About = { readonly kind: 'node' | 'run' | 'runbook' | 'rollout'; readonly object: string; readonly node?: string }; // biome-ignore format: one row

export type Answers = ReadonlyMap<string, CanAnswer>;

const mostAsks = 100;

export const askedLists = async (api: Api, lists: readonly (readonly Ask[])[]): Promise<readonly Answers[]> => {
  const asks = lists.flat();
  const parts = Array.from({ length: Math.ceil(asks.length / mostAsks) }, (_, at) =>
    api.ask<{ answers: readonly CanAnswer[] }>('/temper/v1/policy/can', {
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

/** An act on a group needs the permission for each of its objects. */
export const inAll = (all: readonly Answers[]): Answers =>
  new Map(
    [...all[0]!].map(([rule, answer]) => [
      rule,
      all.map((answers) => answers.get(rule)).find((one) => one && !one.allowed) ?? answer,
    ]),
  );

/** Result of an act of this session, which the address holds with a proof. */
export const Done = ({ session, query: { will, proof } }: { session: Session; query: PageQuery }) =>
  will && proof === proofOf(session, will) ? <Notice tone="good" role="status" says={will} /> : null;

export type Offer = {
  readonly name: string;
  readonly label: string;
  readonly rule: string;
  /** Reason of a refusal by the state; undefined if it permits the act. */
  readonly stateSays?: ComponentChildren;
  readonly will: string;
  readonly danger?: boolean;
  readonly withoutReason?: boolean;
  /** Is never the primary action. */
  readonly minor?: boolean;
  readonly fields?: Readonly<Record<string, string>>;
  /** Further inputs of the form. */
  readonly more?: ComponentChildren;
  /** Name of the verb in the API and on the command line. */
  readonly verb?: string;
  /** Rules that it needs besides. */
  readonly also?: readonly string[];
  /** The form can be sent for a dry run. */
  readonly preview?: boolean;
  /** Page that has the form; there is no dialog then. */
  readonly href?: string;
  /** Address of the form, and object of its rule, if they are not those of the page. */
  readonly action?: string;
  readonly about?: About;
};

type OfferedProps = { offer: Offer; session: Session; action: string; id: string };

/** A form with a title: a popover of the platform, which needs no script. */
export const ActDialog = ({ offer, session, action, id }: OfferedProps) => (
  <div id={id} popover="auto" role="dialog" aria-labelledby={`${id}-title`}>
    <ActForm session={session} action={offer.action ?? action} fields={offer.fields}>
      <h2 id={`${id}-title`}>{offer.label}</h2>
      <p>{offer.will}</p>
      {offer.more}
      {!offer.withoutReason && <Reason />}
      <div class="foot">
        <button type="button" popovertarget={id} popovertargetaction="hide">
          Cancel
        </button>
        {offer.preview && <Send name="preview" value="yes" label="Preview" />}
        <Send tone={offer.danger ? 'danger' : 'primary'} label={offer.label} />
      </div>
    </ActForm>
  </div>
);

const OfferedAct = ({ primary, ...given }: OfferedProps & { primary: boolean }) => (
  <>
    <button type="button" class={given.offer.danger ? 'danger' : primary ? 'primary' : undefined} popovertarget={given.id}>
      {given.offer.label}
    </button>
    <ActDialog {...given} />
  </>
); // biome-ignore format: short parts

/** The API begins its reason with the rule, which the page names itself. */
const apiOpening = /^The rule \S+ [a-z ]+ you\.\s*/;

export const deniedText = ({ rule, reason }: CanAnswer): string =>
  reason && !apiOpening.test(reason)
    ? reason
    : `You don’t have permission: ${rule}. ${reason?.replace(apiOpening, '') ?? ''}`.trim();

/** Links to the policy page. @param about object of the query */
export const Refused = ({ answer, about }: { answer: CanAnswer; about?: About }) => (
  <>
    {deniedText(answer)} <a href={addressWith('/policy', { rule: answer.rule, ...about })}>Why?</a>
  </>
);

/** Undefined if the act is possible. */
export const whyOff = (offer: Offer, answers: Answers, about?: About): ComponentChildren => {
  const refused = [offer.rule, ...(offer.also ?? [])].map((rule) => answers.get(rule)).find((one) => one?.allowed === false);
  return refused ? <Refused answer={refused} about={offer.about ?? about} /> : offer.stateSays;
}; // biome-ignore format: short lines

export type ActsProps = {
  readonly id: string;
  readonly offers: readonly Offer[];
  readonly answers: Answers;
  readonly session: Session;
  readonly actionOf: (offer: Offer) => string;
  readonly about: About;
};

/** @param id keeps open forms with their typed text when the page is reloaded */
export const Acts = ({ id, offers, answers, session, actionOf, about }: ActsProps) => {
  const rows = offers.map((offer) => ({ offer, why: whyOff(offer, answers, about) }));
  const off = rows.flatMap(({ offer, why }) => (why === undefined ? [] : [[offer.label, why] as const]));
  const possible = rows.filter(({ why }) => why === undefined);
  const primary = possible.find(({ offer }) => !offer.danger && !offer.minor);
  return (
    <div class="stack">
      {possible.length > 0 && (
        <div class="acts">
          {possible.map(({ offer }) => (
            <OfferedAct
              key={offer.name}
              id={`${id}-${offer.name}`}
              offer={offer}
              session={session}
              action={actionOf(offer)}
              primary={offer === primary?.offer}
            />
          ))}
        </div>
      )}
      {off.length > 0 && (
        <details id={`${id}-off`}>
          <summary>Unavailable ({off.length})</summary>
          <Facts why rows={off} />
        </details>
      )}
    </div>
  );
};
