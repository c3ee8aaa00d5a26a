/** Clients of event streams, each on a connection of its own, as a process of its own that costs little itself. */
import { get } from 'node:http';
import { answerParent } from './child';

export type StreamAsked = { readonly path: string; readonly token: string };
/** `open` opens them and answers when all are open; `look` says what has come since the last look. */
export type ReadersQuestion =
  | { readonly is: 'open'; readonly port: number; readonly streams: readonly StreamAsked[] }
  | { readonly is: 'look' };
/** `late`: milliseconds of each event from when it was written until its reader had it. */
export type ReadersAnswer = { readonly late: readonly number[]; readonly closed: number };

const openedAtOnce = 50;
let late: number[] = [];
let closed = 0;

/** An event's time is that of its row, by the clock of the same machine. */
const timeOf = (line: string): number => Date.parse(/"at":"([^"]+)"/.exec(line)?.[1] ?? '');

const take = (text: string): void => {
  const now = Date.now();
  for (const line of text.split('\n')) if (line.startsWith('data: ')) late.push(now - timeOf(line));
};

/** Resolves when the first bytes have come. */
const open = (port: number, { path, token }: StreamAsked): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { accept: 'text/event-stream', 'x-auth-token': token };
    get({ host: '127.0.0.1', port, path, headers, agent: false }, (reply) => {
      if (reply.statusCode !== 200) return reject(new Error(`GET ${path} answered ${reply.statusCode}`));
      let rest = '';
      reply.setEncoding('utf8').on('data', (chunk: string) => {
        const text = rest + chunk;
        const end = text.lastIndexOf('\n') + 1;
        rest = text.slice(end);
        take(text.slice(0, end));
        resolve();
      });
      const gone = (): void => void closed++;
      reply.once('error', gone).once('end', gone);
    }).once('error', reject);
  });

const openAll = async (port: number, streams: readonly StreamAsked[]): Promise<void> => {
  for (let at = 0; at < streams.length; at += openedAtOnce)
    await Promise.all(streams.slice(at, at + openedAtOnce).map((stream) => open(port, stream)));
};

const answer = async (question: ReadersQuestion): Promise<ReadersAnswer> => {
  if (question.is === 'open') await openAll(question.port, question.streams);
  const seen = { late, closed };
  late = [];
  return seen;
};

answerParent(answer);
