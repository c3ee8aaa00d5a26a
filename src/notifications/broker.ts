/** RabbitMQ by AMQP 0-9-1: exchange and queues as oslo.messaging declares them, and confirmed messages. */
import { Duplex } from 'node:stream';
import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { messageOf } from '../model/errors';
import type { Outgoing } from './envelope';

export type Broker = {
  /** Resolves when the broker has taken all, in this order. Throws otherwise; some may have been taken. */
  send(messages: readonly Outgoing[]): Promise<void>;
  close(): Promise<void>;
};

export type BrokerSettings = {
  /** Tried in this order. */
  readonly urls: readonly string[];
  /** Certificates (PEM) of authorities; the system's own if absent. */
  readonly ca?: readonly Buffer[];
  readonly exchange: string;
  readonly topics: readonly string[];
  /** Of an exchange or queue that is not there yet. */
  readonly durable: boolean;
};

const connectMs = 10_000;
/** Also the limit for a broker that takes no messages because its memory or disk is full. */
const confirmMs = 30_000;
const closeMs = 2_000;
const heartbeatSeconds = 30;
const notFoundCode = 404;

/** Failures reject what waits for them, too. Without a listener, the event would end the process. */
const uncrashed = <Emitter extends { on(event: 'error', listener: () => void): unknown }>(
  emitter: Emitter,
): Emitter => {
  emitter.on('error', () => {});
  return emitter;
};

const withLimit = async <T>(ms: number, what: string, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`RabbitMQ did not ${what} within ${ms / 1_000} s`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};

const socketOptions = (url: string, ca: BrokerSettings['ca']) => ({
  timeout: connectMs,
  ...(url.startsWith('amqps:') && ca && { ca: [...ca] }),
  clientProperties: { connection_name: 'temper-notifications' },
});

const withHeartbeat = (text: string): string => {
  const url = new URL(text);
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(heartbeatSeconds));
  return url.href;
};

/** The socket stays open if the broker does not answer to the end. */
const disconnect = async (model: ChannelModel): Promise<void> => {
  await withLimit(closeMs, 'end the connection', model.close()).catch(() => {});
  const stream: unknown = Reflect.get(model.connection, 'stream');
  if (stream instanceof Duplex) stream.destroy();
};

/** The first broker that answers. @throws the failure of the last one, without its URL, which has a password */
const anyOf = async ({ urls, ca }: BrokerSettings): Promise<ChannelModel> => {
  let failure: unknown;
  for (const url of urls) {
    const opened = connect(withHeartbeat(url), socketOptions(url, ca));
    try {
      return uncrashed(await withLimit(connectMs, 'answer', opened));
    } catch (thrown) {
      failure = thrown;
      opened.then(disconnect, () => {}); // one that answers too late
    }
  }
  throw new Error(`RabbitMQ cannot be reached: ${messageOf(failure).replace(/amqps?:\/\/\S*/g, 'its URL')}`);
};

/** A check of what is not there closes its channel, so each has one. */
const isThere = async (model: ChannelModel, check: (channel: Channel) => Promise<unknown>): Promise<boolean> => {
  const channel = uncrashed(await model.createChannel());
  try {
    await check(channel);
    await channel.close();
    return true;
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === notFoundCode) return false;
    throw thrown;
  }
};

/** One that exists is used as it is: its listeners decided whether it is durable. */
const declareExchange = async (
  model: ChannelModel,
  channel: Channel,
  { exchange, durable }: BrokerSettings,
): Promise<void> => {
  if (await isThere(model, (look) => look.checkExchange(exchange))) return;
  await channel.assertExchange(exchange, 'topic', { durable, autoDelete: false });
};

/** oslo.messaging declares the queue as well, so that nothing is lost before the first listener comes. */
const declareQueue = async (
  model: ChannelModel,
  channel: Channel,
  queue: string,
  { exchange, durable }: BrokerSettings,
): Promise<void> => {
  if (!(await isThere(model, (look) => look.checkQueue(queue))))
    await channel.assertQueue(queue, { durable, autoDelete: false, exclusive: false });
  await channel.bindQueue(queue, exchange, queue);
};

// `mandatory`: a message that no queue takes comes back, and is not lost in silence.
const published = { contentType: 'application/json', contentEncoding: 'utf-8', persistent: true, mandatory: true };

/**
 * Rejects work if the channel closes or a message comes back. A race with one promise would keep something of each send for as long
 * as the connection lasts.
 */
const unlessLostOn = (channel: ConfirmChannel): ((work: Promise<void>) => Promise<void>) => {
  const waiting = new Set<(reason: Error) => void>();
  let lost: Error | undefined;
  const lose = (reason: Error): void => {
    lost ??= reason;
    for (const reject of waiting) reject(lost);
  };
  channel.on('close', () => lose(new Error('RabbitMQ closed the connection')));
  channel.on('error', lose);
  channel.on('return', ({ fields }) => lose(new Error(`no queue of RabbitMQ took a message for ${fields.routingKey}`)));
  return (work) =>
    new Promise((resolve, reject) => {
      if (lost) reject(lost);
      waiting.add(reject);
      work.then(resolve, reject).finally(() => waiting.delete(reject));
    });
};

const publish = (channel: ConfirmChannel, exchange: string, key: string, body: string): Promise<void> =>
  new Promise((resolve, reject) => {
    channel.publish(exchange, key, Buffer.from(body), published, (refused) =>
      refused ? reject(new Error(`RabbitMQ refused a message: ${messageOf(refused)}`)) : resolve(),
    );
  });

const brokerOn = (model: ChannelModel, channel: ConfirmChannel, settings: BrokerSettings): Broker => {
  const { exchange, topics } = settings;
  const declared = new Set<string>(); // as many as topics have levels
  const unlessLost = unlessLostOn(channel);
  const declare = async (keys: readonly string[]): Promise<void> => {
    for (const key of keys.filter((one) => !declared.has(one))) {
      await declareQueue(model, channel, key, settings);
      declared.add(key);
    }
  };
  const keysOf = ({ priority }: Outgoing) => topics.map((topic) => `${topic}.${priority}`);
  const send = async (messages: readonly Outgoing[]): Promise<void> => {
    await declare([...new Set(messages.flatMap(keysOf))]);
    await Promise.all(messages.flatMap((one) => keysOf(one).map((key) => publish(channel, exchange, key, one.body))));
  };
  return {
    send: (messages) => withLimit(confirmMs, 'take messages', unlessLost(send(messages))),
    close: () => disconnect(model),
  };
};

const ready = async (model: ChannelModel, settings: BrokerSettings): Promise<Broker> => {
  const channel = uncrashed(await model.createConfirmChannel());
  await declareExchange(model, channel, settings);
  return brokerOn(model, channel, settings);
};

export const connectBroker = async (settings: BrokerSettings): Promise<Broker> => {
  const model = await anyOf(settings);
  try {
    return await withLimit(connectMs, 'answer', ready(model, settings));
  } catch (thrown) {
    await disconnect(model);
    throw thrown;
  }
};
