/** One sender that asks more than it may, as a process of its own: so many seconds in one of four ways, from one address. */
import { setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { answerParent } from './child';
import { type Flood, type Way, ways } from './flood-ways';

const from = '127.0.0.9';

/** Keeps one connection until the end. @returns how often it was closed */
const keep = async ({ port, path, way }: Flood, over: AbortSignal): Promise<number> => {
  const { first, heard, drip }: Way = ways[way];
  const asked = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  let closed = 0;
  while (!over.aborted) {
    const socket: Socket = connect({ port, host: '127.0.0.1', localAddress: from }).on('error', () => {});
    socket.on('connect', () => socket.write(first(asked)));
    socket.on('data', () => heard && socket.write(heard(asked)));
    const timer = drip === undefined ? undefined : setInterval(() => socket.write(drip), 100);
    const end = () => socket.destroy();
    over.addEventListener('abort', end, { once: true });
    await new Promise((done) => socket.once('close', done));
    over.removeEventListener('abort', end);
    clearInterval(timer);
    closed += 1;
    // Those that are turned away come back soon, not at once: the sender is to be no heavier than what it attacks.
    await pause(way === 'pipelining' ? 10 : 250);
  }
  return closed;
};

answerParent<Flood, number>(async (flood) => {
  if (flood.seconds === 0) return 0; // it is there
  const over = AbortSignal.timeout(flood.seconds * 1_000);
  setMaxListeners(0, over);
  const each = Array.from({ length: ways[flood.way].connections }, () => keep(flood, over));
  return (await Promise.all(each)).reduce((sum, one) => sum + one, 0);
});
