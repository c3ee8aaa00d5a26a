/** The client under load, as a process of its own: one job is one route, so many connections, so many seconds. */
import autocannon from 'autocannon';
import { answerParent } from './child';
import { percentile } from './stats';

export type Job = {
  readonly url: string;
  readonly method: 'GET' | 'POST';
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

const run = (job: Job): Promise<Load> =>
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
        ...(job.body !== undefined && { requests: [{ setupRequest: withBody(job.body) }] }),
      },
      (error, result) => {
        if (error) return reject(error);
        if (times.length === 0) return reject(new Error(`not one answer of ${job.url} was a success`));
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

/** A fresh body for every request. */
const withBody =
  (body: string) =>
  (request: autocannon.Request): autocannon.Request => ({
    ...request,
    body: body.replace('%id%', `${process.pid}-${(sent++).toString(36)}`),
  });

answerParent(run);
