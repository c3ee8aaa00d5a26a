/** Event subscriptions of a BMC. */

import { z } from 'zod';
import { raise } from '../../../model/errors';
import type { ActOutcome } from '../../../model/runs/runs';
import { announcements } from '../../announce';
import { converge } from '../../converge';
import { shortDigest } from '../../digest';
import { tidyText } from '../../texts';
import { findChecked, membersOf, serviceRoot } from '../discovery/discovery';
import { link, maybe, optionalText, texts } from '../discovery/resources';
import type { Client } from '../transport/client';
import { lastOf } from '../transport/texts';

const EventService = z.looseObject({ Subscriptions: maybe(link), EventTypesForSubscription: texts });

const Subscription = z.looseObject({
  Id: optionalText,
  Context: optionalText,
  Protocol: optionalText,
  Destination: optionalText,
  EventTypes: texts,
});
type Subscription = z.output<typeof Subscription>;

type SubscriptionArgs = Readonly<Record<string, unknown>>;
type Service = { readonly list: string; readonly types: readonly string[] | undefined };

const find = async (client: Client): Promise<Service> => {
  // A BMC with another owner's node must not send its events to this receiver.
  await findChecked(client);
  const service = (await client.find((await serviceRoot(client)).EventService?.['@odata.id'], EventService))?.value;
  const list = service?.Subscriptions?.['@odata.id'];
  return list === undefined
    ? raise('BmcUnsupported', client.facts({ what: 'event subscriptions' }))
    : { list, types: service?.EventTypesForSubscription };
};

const subscriptionView = (path: string, { Id, Context, Protocol, Destination, EventTypes }: Subscription) => ({
  Id: tidyText(Id) ?? lastOf(path),
  Context: tidyText(Context) ?? '',
  Protocol: tidyText(Protocol) ?? '',
  Destination: tidyText(Destination, 2_000) ?? '',
  EventTypes: (EventTypes ?? []).flatMap((type) => tidyText(type) ?? []),
});

/** The path from the BMC's list: a caller's id must not become part of a path. */
const pathOf = (paths: readonly string[], id: unknown): string | undefined =>
  paths.find((path) => lastOf(path) === String(id));

const notFound = (client: Client, id: unknown): never => raise('SubscriptionNotFound', client.facts({ id }));

/** Without `id`, returns the list. */
export const readSubscriptions = async (client: Client, { id }: SubscriptionArgs): Promise<ActOutcome> => {
  const { list } = await find(client);
  const paths = await membersOf(client, list);
  if (id === undefined) {
    const Members = paths.map((path) => ({ '@odata.id': path }));
    return {
      is: 'done',
      note: `${paths.length} subscriptions`,
      value: {
        '@odata.id': list,
        '@odata.type': '#EventDestinationCollection.EventDestinationCollection',
        Name: 'Event Subscriptions',
        Description: 'Receivers of events of the BMC',
        'Members@odata.count': Members.length,
        Members,
      },
    };
  }
  const path = pathOf(paths, id) ?? notFound(client, id);
  const found = await client.find(path, Subscription);
  return found ? { is: 'done', value: subscriptionView(path, found.value) } : notFound(client, id);
};

const wantedBy = ({ destination, context, protocol, event_types }: SubscriptionArgs) => ({
  Destination: String(destination),
  Protocol: protocol ?? 'Redfish',
  Context: String(context ?? ''),
  EventTypes: event_types ?? ['Alert'],
});
type WantedSubscription = ReturnType<typeof wantedBy>;

/** Credentials of the BMC at the receiver. */
const secretHeaders = ({ secret_headers: given }: SubscriptionArgs): SubscriptionArgs =>
  Array.isArray(given) && given.length > 0 ? { HttpHeaders: given } : {};

const requireTypes = (client: Client, wanted: unknown, types: Service['types']): void => {
  if (!Array.isArray(wanted) || types === undefined) return;
  const unknown = wanted.filter((type) => !types.includes(String(type)));
  if (unknown.length > 0)
    raise(
      'StepRejected',
      client.facts({
        step: 'create_subscription',
        reason: `this BMC has no event types ${unknown.join(', ')}; it has: ${types.join(', ')}`,
      }),
    );
};

type SubscriptionObserved = {
  readonly paths: readonly string[];
  readonly made?: { readonly path: string; readonly is: Subscription };
};

/** The list before the announced command; undefined without an intent. */
const announcedPaths = async (
  { context }: Client,
  desired: SubscriptionArgs,
): Promise<readonly string[] | undefined> => {
  const before = (await announcements(context, desired).last())?.before;
  return typeof before === 'string' ? (JSON.parse(before) as string[]) : undefined;
};

/** The new entry with the wanted destination and context. */
const lookFor = async (
  client: Client,
  list: string,
  wanted: WantedSubscription,
  before?: readonly string[],
): Promise<SubscriptionObserved> => {
  const paths = await membersOf(client, list);
  for (const path of before === undefined ? [] : paths.filter((one) => !before.includes(one))) {
    const is = (await client.find(path, Subscription))?.value;
    if (is?.Destination === wanted.Destination && (is.Context ?? '') === wanted.Context)
      return { paths, made: { path, is } };
  }
  return { paths };
};

/** A subscription is this act's if it is new since the command and equal: another caller may have subscribed the same receiver. */
export const createSubscription = async (client: Client, args: SubscriptionArgs): Promise<ActOutcome> => {
  const what = 'subscribe to events';
  const { list, types } = await find(client);
  requireTypes(client, args.event_types, types);
  const sent = wantedBy(args);
  const desired = { subscription: shortDigest(JSON.stringify(sent)) };
  let before = await announcedPaths(client, desired);
  const { state } = await converge<SubscriptionObserved>(client, {
    what,
    desired,
    timeoutMs: client.context.timing.powerTimeoutMs,
    look: () => lookFor(client, list, sent, before),
    reached: ({ made }, announced) => announced !== undefined && made !== undefined,
    act: ({ paths }) => {
      before = paths;
      return client.post(list, { ...sent, ...secretHeaders(args) }, what);
    },
    show: ({ paths }) => JSON.stringify(paths),
    again: 'next attempt',
  });
  const value = subscriptionView(state.made!.path, state.made!.is);
  return { is: 'done', note: `subscription ${value.Id}`, value };
};

/** Throws SubscriptionNotFound if it did not exist before the command. */
export const deleteSubscription = async (client: Client, { id }: SubscriptionArgs): Promise<ActOutcome> => {
  const what = 'end a subscription to events';
  const { list } = await find(client);
  const desired = { ended: String(id) };
  const look = async () => pathOf(await membersOf(client, list), id);
  if (!(await announcements(client.context, desired).last()) && (await look()) === undefined) notFound(client, id);
  await converge<string | undefined>(client, {
    what,
    desired,
    timeoutMs: client.context.timing.powerTimeoutMs,
    look,
    reached: (path) => path === undefined,
    act: (path) => client.remove(path!, undefined, what),
    show: (path) => (path === undefined ? 'it is gone' : 'it is there'),
    again: 'now',
  });
  return { is: 'done', note: `subscription ${id} ended` };
};
