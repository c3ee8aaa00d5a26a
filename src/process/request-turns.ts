/** Has requests begin in turn: one of a connection at a time, a few of a sender, so that no other waits behind all that one asks. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { peerAddress } from '../model/access/bmc-addresses';
import { senderAddress, senderKey, type Trusts } from '../model/access/senders';
import { createTurns, type Leave, type Pace } from '../model/turnstile';

/**
 * Requests of one sender that are under way at once. A site behind one address, a compute service with its pool of connections and
 * a console before its users seldom have ten; more of them are served as fast, for those in front end.
 */
export const underWayAtMost = 32;

/** What is not answered by then waits for a BMC or a lock, and keeps no other waiting. */
const busyAtMostMs = 5_000;

/** Under what a request counts; a proxy that does not say for whom it asks is one sender. */
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
 * Calls `leave` as the head of the answer is sent, for a stream or an image goes on for long after it, or after a while.
 * @returns calls it at once
 */
const leaveAtHead = (request: IncomingMessage, response: ServerResponse, leave: Leave, busyMs: number): Leave => {
  const begun = (): void => {
    clearInterval(late);
    leave();
  };
  // A body that is being sent takes memory: one sender has no more of them than places.
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
  /** Whether connections come now: Node accepts one in each round of its event loop, so that short rounds accept more. */
  readonly isAccepting?: () => boolean;
};

/** So many connections are accepted before the next request of a sender begins, while connections come. */
export const roundsWhileAccepting = 8;

/** For `sliceMs`, and for the one that is then being served, what others sent waits; the next slice begins after `rounds`. */
const usual = { sliceMs: 0.5, rounds: 1 };
const whileAccepting = { sliceMs: 0, rounds: roundsWhileAccepting };

/** Calls after so many rounds of the event loop. */
const afterRounds = (rounds: number, call: () => void): void =>
  void setImmediate(rounds > 1 ? () => afterRounds(rounds - 1, call) : call);

/**
 * Node hands out all requests of a read at once. Here the next one of a connection begins when the one before is answered, and of a
 * sender's requests when one of those under way has its answer. What waits leaves the line with its connection.
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
