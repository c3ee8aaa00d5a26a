/** `http:` checks: a thread queries the operator's service, and the decision waits. */
import { Worker } from 'node:worker_threads';
import type { RemoteQuestion } from '../../policy';

/** Bytes of a response. Only `True` counts, so longer ones fail. */
const answerBytes = 256;

/**
 * The thread's program as text, so that it needs no file. Policy decisions are synchronous, so this process blocks
 * until the state changes from 0 to 1 (answered) or 2 (failed).
 */
const program = `
const { parentPort, workerData } = require('node:worker_threads');
const state = new Int32Array(workerData.state);
const bytes = new Uint8Array(workerData.answer);
const end = (code, text) => {
  const { written } = new TextEncoder().encodeInto(text, bytes);
  Atomics.store(state, 1, written);
  Atomics.store(state, 0, code);
  Atomics.notify(state, 0);
};
parentPort.on('message', async ({ url, form, timeoutMs }) => {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const reply = await fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'error', signal });
    const parts = [];
    for await (const part of reply.body ?? []) {
      parts.push(part);
      // What would be cut off could be the end of another word.
      if (parts.reduce((size, { length }) => size + length, 0) > bytes.length) throw { name: 'the answer is too long' };
    }
    end(1, Buffer.concat(parts).toString('utf8'));
  } catch (error) {
    end(2, String(error.cause?.code ?? error.name));
  }
});
`;

export type RemoteSettings = {
  /** Other addresses count as unreachable. */
  readonly origins: readonly string[];
  readonly timeoutMs: number;
};

export type Remote = { readonly ask: (question: RemoteQuestion) => string; readonly close: () => void };

/** Always verifies certificates. `ask` throws without a response in time, and the check refuses. */
export const openRemote = ({ origins, timeoutMs }: RemoteSettings): Remote => {
  const shared = { state: new SharedArrayBuffer(8), answer: new SharedArrayBuffer(answerBytes) };
  const state = new Int32Array(shared.state);
  const bytes = new Uint8Array(shared.answer);
  let worker: Worker | undefined;
  const thread = (): Worker => {
    if (worker) return worker;
    worker = new Worker(program, { eval: true, workerData: shared });
    worker.unref();
    return worker;
  };
  const close = (): void => {
    void worker?.terminate();
    worker = undefined;
  };
  // Replaces the thread, so that its late response cannot answer the next question.
  const giveUp = (url: URL): never => {
    close();
    throw new Error(`${url.origin} did not answer within ${timeoutMs} ms`);
  };
  const ask = ({ url: text, rule, target, credentials }: RemoteQuestion): string => {
    const url = new URL(text);
    if (!origins.includes(url.origin)) throw new Error(`${url.origin} is not among TEMPER_POLICY_REMOTE_ORIGINS`);
    const form = {
      rule: JSON.stringify(rule),
      target: JSON.stringify(target),
      credentials: JSON.stringify(credentials),
    };
    state.fill(0);
    thread().postMessage({ url: url.href, form, timeoutMs });
    // The thread's own timeout plus its start.
    if (Atomics.wait(state, 0, 0, timeoutMs + 1_000) === 'timed-out') return giveUp(url);
    const answer = new TextDecoder().decode(Uint8Array.from(bytes.subarray(0, state[1])));
    if (state[0] === 2) throw new Error(`${url.origin} could not be asked: ${answer}`);
    return answer;
  };
  return { ask, close };
};
