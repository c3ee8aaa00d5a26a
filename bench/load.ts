/** The client under load, as a process of its own: one job is one route, so many connections, so many seconds. */
import autocannon from 'autocannon';
import { answerParent } from './child';
import { percentile } from './stats';

export type Job = {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Taken in turn, below `url`. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** `%id%` in it becomes different with every request. */
  readonly body?: string;
  readonly connections: number;
  readonly seconds: number;
};

/** Times in milliseconds. Only answers with a 2xx status count. */
export type Load = {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
};

/** A machine that is busy with others may not answer one long list in so short a time; then it gets more. */
const run = async (job: Job): Promise<Load> =>
  (await tried(job)) ?? (await tried({ ...job, seconds: 10 * job.seconds })) ?? noAnswer(job);

const noAnswer = ({ url, paths }: Job): never => {
  throw new Error(`not one answer of ${url}${paths[0]} was a success`);
};

/** Undefined where nothing was answered. */
const tried = (job: Job): Promise<Load | undefined> =>
  new Promise((resolve, reject) => {
    const times: number[] = [];
    const started = process.hrtime.bigint();
    const instance = autocannon(
      {
        url: job.url,
        method: job.method,
        headers: { ...job.headers },
        connections: job.connections,
        duration: job.seconds,
        timeout: 30,
        requests: requestsOf(job),
      },
      (error, result) => {
        if (error) return reject(error);
        if (times.length === 0) return resolve(undefined);
        const seconds = Number(process.hrtime.bigint() - started) / 1e9;
        resolve({
          requests: times.length,
          perSecond: times.length / seconds,
          p50: percentile(times, 0.5),
          p99: percentile(times, 0.99),
          failed: result.errors + result.timeouts + result.non2xx,
        });
      },
    );
    // Its own histogram holds whole milliseconds only.
    instance.on('response', (_client, status, _bytes, ms) => {
      if (status >= 200 && status < 300) times.push(ms);
    });
  });

let sent = 0;

/** The same request again and again, or another path and a fresh body for each. */
const requestsOf = ({ paths, body }: Job): autocannon.Request[] => {
  if (paths.length === 1 && body === undefined) return [{ path: paths[0]! }];
  return [
    {
      setupRequest: (request) => ({
        ...request,
        path: paths[sent % paths.length]!,
        ...(body !== undefined && { body: body.replace('%id%', `${process.pid}-${(sent++).toString(36)}`) }),
      }),
    },
  ];
};

answerParent(run);
