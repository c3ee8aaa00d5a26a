/** Machines that read a file by ranges, each on a connection of its own, as a process of its own. */
import { Agent, get } from 'node:http';
import { performance } from 'node:perf_hooks';
import { answerParent } from './child';
import { percentile } from './stats';

export type ReadJob = {
  readonly url: string;
  /** One for each reader. */
  readonly paths: readonly string[];
  /** Of the file, and of one range. */
  readonly size: number;
  readonly range: number;
  /** Ranges that all readers read together. */
  readonly requests: number;
};
/** Time to the first byte in milliseconds. */
export type Reads = { readonly perSecond: number; readonly p99: number; readonly failed: number };

const run = async ({ url, paths, size, range, requests }: ReadJob): Promise<Reads> => {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const [times, ranges] = [[] as number[], Math.floor(size / range)];
  let [left, failed] = [requests, 0];
  const readOne = (path: string): Promise<void> =>
    new Promise((done) => {
      const from = (left % ranges) * range;
      const began = performance.now();
      const wrong = () => {
        failed += 1;
        done();
      };
      get(url + path, { agent, headers: { range: `bytes=${from}-${from + range - 1}` } }, (answer) => {
        times.push(performance.now() - began);
        answer.resume().once('end', answer.statusCode === 206 ? done : wrong);
      }).once('error', wrong);
    });
  const reader = async (path: string): Promise<void> => {
    while (left-- > 0) await readOne(path);
  };
  const began = performance.now();
  await Promise.all(paths.map(reader));
  const seconds = (performance.now() - began) / 1_000;
  agent.destroy();
  return { perSecond: (requests - failed) / seconds, p99: percentile(times, 0.99), failed };
};

answerParent(run);
