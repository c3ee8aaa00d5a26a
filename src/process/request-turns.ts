/** Order of requests: one at a time per connection, and a limit per sender. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { peerAddress } from '../model/access/bmc-addresses';
import { senderAddress, senderKey, type Trusts } from '../model/access/senders';
import { createTurns, type Leave, type Pace } from '../model/turnstile';

/**
 * Concurrent requests of one sender. A site behind one address, a compute service's pool or the console seldom has
 * ten. Further ones wait for those in front.
 */
export const underWayAtMost = 32;

/** Such a request waits for a BMC or a lock. It frees its place, because it slows no other. */
const busyAtMostMs = 5_000;

/** A proxy without X-Forwarded-For is one sender. */
const senderBy = (trusts: Trusts): ((request: IncomingMessage) => string) => {
  const known = new WeakMap<Socket, string>();
  return ({ headers, socket }) => {
    const before = known.get(socket);
    if (before !== undefined) return before;
    const peer = peerAddress(socket.remoteAddress);
    const sender = senderKey(senderAddress({ headers, socket }, trusts) || peer);
    if (!trusts(peer)) known.set(socket, sender);
    return sender;
  };
};

/**
 * Calls `leave` when the head is sent, because a stream or an image continues for long, or after `busyMs`.
 * @returns calls `leave` at once
 */
const leaveAtHead = (request: IncomingMessage, response: ServerResponse, leave: Leave, busyMs: number): Leave => {
  const begun = (): void => {
    clearInterval(late);
    leave();
  };
  // An incomplete body takes memory, so it keeps its place.
  const late = setInterval(() => request.complete && begun(), busyMs);
  const { writeHead } = response;
  response.writeHead = (...given: unknown[]) => {
    begun();
    return writeHead.apply(response, given as Parameters<typeof writeHead>);
  };
  return begun;
};

type TurnOptions = {
  readonly trusts?: Trusts;
  readonly busyMs?: number;
  /** True while connections arrive. Node accepts one per event loop round, so shorter rounds accept more. */
  readonly isAccepting?: () => boolean;
};

/** Event loop rounds before a sender's next request, while connections arrive. */
export const roundsWhileAccepting = 8;

/** A sender's requests start within `sliceMs`. Its next slice starts after `rounds`, when other input has been read. */
const usual = { sliceMs: 0.5, rounds: 1 };
const whileAccepting = { sliceMs: 0, rounds: roundsWhileAccepting };

const afterRounds = (rounds: number, call: () => void): void =>
  void setImmediate(rounds > 1 ? () => afterRounds(rounds - 1, call) : call);

/**
 * Node emits all requests of one read at once. Here a connection's next request starts after the previous response. A
 * sender's queued request starts when a running one is answered. Queued requests are dropped with their connection.
 */
export const inTurn = (
  answer: RequestListener,
  { trusts = () => false, busyMs = busyAtMostMs, isAccepting = () => false }: TurnOptions = {},
): RequestListener => {
  const lengths = () => (isAccepting() ? whileAccepting : usual);
  const pace: Pace = {
    now: () => performance.now(),
    slice: () => lengths().sliceMs,
    later: (call) => afterRounds(lengths().rounds, call),
  };
  const connections = createTurns<Socket>(1, pace);
  const senders = createTurns<string>(underWayAtMost, pace);
  const senderOf = senderBy(trusts);
  return (request, response) => {
    let leave: Leave | undefined;
    const leaveConnection = connections.take(request.socket, () => {
      const leaveLine = senders.take(senderOf(request), (leavePlace) => {
        leave = leaveAtHead(request, response, leavePlace, busyMs);
        if (!request.socket.destroyed) answer(request, response);
      });
      leave ??= leaveLine;
    });
    response.once('close', () => {
      leave?.();
      leaveConnection();
    });
  };
};
