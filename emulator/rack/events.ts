/** The event service: who is to be told of what happens here. Subscriptions are kept; nothing is ever sent. */

import { collection, done, link, notThere, onlyProperties, refuse, refuseMissing, resource } from './answers';
import { nextId } from './bmc';
import type { Answer, Bmc, Doc, Exchange, Row, Subscription } from './types';

const service = '/redfish/v1/EventService';
const subscriptions = `${service}/Subscriptions`;

const eventTypes = ['StatusChange', 'ResourceUpdated', 'ResourceAdded', 'ResourceRemoved', 'Alert', 'Other'];

/** As many as the smallest of real BMCs take. */
const mostSubscriptions = 8;

const kept = ({ state }: Bmc): Subscription[] => state.subscriptions ?? [];

const find = ({ bmc, params, path }: Exchange): Subscription =>
  kept(bmc).find(({ id }) => id === params.subscription) ?? notThere(path);

// The specification has HttpHeaders read as null: they may hold what the receiver knows the sender by.
const subscriptionDoc = ({ id, destination, context, protocol, types }: Subscription): Doc =>
  resource(`${subscriptions}/${id}`, 'EventDestination.v1_9_0.EventDestination', id, `Subscription ${id}`, {
    Destination: destination,
    Context: context,
    Protocol: protocol,
    EventTypes: types,
    SubscriptionType: 'RedfishEvent',
    HttpHeaders: null,
  });

const typesIn = ({ EventTypes = ['Alert'] }: Doc): string[] => {
  if (Array.isArray(EventTypes) && EventTypes.every((type) => eventTypes.includes(type))) return EventTypes as string[];
  return refuse(
    400,
    'PropertyValueNotInList',
    `The value ${JSON.stringify(EventTypes)} for the property EventTypes is not in the list of acceptable values.`,
  );
};

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);

const subscribe = ({ bmc, body }: Exchange): Answer => {
  onlyProperties(body, ['Destination', 'Context', 'Protocol', 'EventTypes', 'HttpHeaders']);
  const destination = textOr(body.Destination, '');
  if (destination === '') refuseMissing('Subscriptions', 'Destination');
  if (!URL.canParse(destination))
    refuse(400, 'PropertyValueFormatError', `The value ${destination} for the property Destination is no URI.`);
  const types = typesIn(body);
  if (kept(bmc).length >= mostSubscriptions)
    refuse(503, 'EventSubscriptionLimitExceeded', 'The maximum number of event subscriptions is reached.');
  const made: Subscription = {
    id: String(nextId(bmc)),
    destination,
    context: textOr(body.Context, ''),
    protocol: textOr(body.Protocol, 'Redfish'),
    types,
    headers: Array.isArray(body.HttpHeaders) ? body.HttpHeaders : [],
  };
  bmc.state.subscriptions = [...kept(bmc), made];
  return { status: 201, body: subscriptionDoc(made), headers: { Location: `${subscriptions}/${made.id}` } };
};

const unsubscribe = (x: Exchange): Answer => {
  const gone = find(x);
  x.bmc.state.subscriptions = kept(x.bmc).filter((one) => one !== gone);
  return done;
};

export const eventRows: readonly Row[] = [
  {
    path: service,
    get: () =>
      resource(service, 'EventService.v1_7_0.EventService', 'EventService', 'Event Service', {
        ServiceEnabled: true,
        EventTypesForSubscription: eventTypes,
        Subscriptions: link(subscriptions),
      }),
  },
  {
    path: subscriptions,
    get: ({ bmc }) =>
      collection(
        subscriptions,
        'EventDestinationCollection',
        'Event Subscriptions',
        kept(bmc).map(({ id }) => id),
      ),
    post: { subject: 'events', effect: 'once', act: subscribe },
  },
  {
    path: `${subscriptions}/:subscription`,
    get: (x) => subscriptionDoc(find(x)),
    delete: { subject: 'events', effect: 'converge', act: unsubscribe },
  },
];
