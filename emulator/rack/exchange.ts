/** One request to one BMC, from the first byte of its path to the journal entry and the answer. */

import { setTimeout as sleep } from 'node:timers/promises';
import { advance } from './advance';
import { errorAnswer, errorBody, Refusal, refusalAnswer } from './answers';
import { withoutBase } from './base';
import { checkIfMatch, etagOf } from './etags';
import { expanded } from './expand';
import { strikeBefore } from './fault-effects';
import { faultsFor } from './faults';
import { managerIs } from './managers';
import { allowOf, findRow } from './resources';
import { authenticate } from './sessions';
import type { ActiveFault, Answer, Doc, Exchange, JournalEntry, Recorder, Row, Subject, Write } from './types';
import { parseBody, type Request, readBody, send } from './wire';

const writeOf = (row: Row, method: string): Write | undefined =>
  ({ PATCH: row.patch, POST: row.post, DELETE: row.delete })[method];

const subjectOf = (write: Write, x: Exchange): Subject =>
  typeof write.subject === 'function' ? write.subject(x) : write.subject;

/** Runs a write; if it is refused halfway, the BMC is as it was. */
const runWrite = (x: Exchange, row: Row, write: Write): Answer => {
  const before = structuredClone(x.bmc.state);
  try {
    if (x.method === 'PATCH' && row.get) checkIfMatch(x.bmc, row.get(x), x.headers['if-match']);
    return write.act(x);
  } catch (thrown) {
    x.bmc.state = before;
    throw thrown;
  }
};

const read = (x: Exchange, row: Row, query: string): Answer => {
  const doc = row.get!(x);
  const etag = etagOf(x.bmc, doc);
  const body = expanded(x, { ...doc, '@odata.etag': etag }, query);
  return { status: 200, body, headers: { ETag: etag, Allow: allowOf(row) } };
};

const answerFor = (x: Exchange, query: string): Answer => {
  const found = findRow(x.bmc, x.path);
  if (!found) return errorAnswer(404, 'ResourceMissingAtURI', `The resource at the URI ${x.path} was not found.`);
  const { row } = found;
  // Only a login is a write that needs no credentials.
  const open =
    (row.open && x.method === 'GET') || (x.method === 'POST' && /\/SessionService\/Sessions\/?$/.test(x.path));
  if (!open && authenticate(x.bmc, x.headers, x.now) === undefined)
    return errorAnswer(401, 'NoValidSession', 'There is no valid session established with the implementation.', {
      'WWW-Authenticate': 'Basic realm="redfish"',
    });
  const at: Exchange = { ...x, params: found.params };
  if (x.method === 'GET' && row.read) return row.read(at);
  if (x.method === 'GET' && row.get) return read(at, row, query);
  const write = writeOf(row, x.method);
  if (!write)
    return errorAnswer(405, 'OperationNotAllowed', `The HTTP method ${x.method} is not allowed on this resource.`, {
      Allow: allowOf(row),
    });
  return runWrite(at, row, write);
};

const attempt = (x: Exchange, query: string): Answer => {
  try {
    return answerFor(x, query);
  } catch (thrown) {
    if (thrown instanceof Refusal) return refusalAnswer(thrown);
    throw thrown;
  }
};

const describe = (x: Exchange): Pick<JournalEntry, 'subject' | 'effect'> => {
  const found = findRow(x.bmc, x.path);
  const write = found && writeOf(found.row, x.method);
  if (!found || !write) return { subject: 'unknown', effect: 'converge' };
  const at = { ...x, params: found.params };
  return {
    subject: subjectOf(write, at),
    effect: typeof write.effect === 'function' ? write.effect(at) : write.effect,
  };
};

const isWrite = (method: string): boolean => method !== 'GET' && method !== 'HEAD';
const isSession = (path: string): boolean => /\/SessionService\/Sessions(\/|$)/.test(path);

/** Aborts when the client leaves before it has its answer. */
const leavesOf = ({ res }: Request): AbortSignal => {
  const left = new AbortController();
  res.once('close', () => left.abort());
  return left.signal;
};

const journal = (
  record: Recorder,
  x: Exchange,
  answer: { status: number; answered: boolean; fault?: string },
): void => {
  if (!isWrite(x.method)) return;
  const what = describe(x);
  record(
    x.bmc,
    {
      source: 'client',
      method: x.method,
      path: x.path,
      content: x.hasBody ? x.body : null,
      ...what,
      accepted: answer.status >= 200 && answer.status < 300,
      status: answer.status,
      session: what.subject === 'session',
      ...(answer.fault ? { fault: answer.fault } : {}),
      answered: answer.answered,
    },
    x.now,
  );
};

const exchangeOf = async (request: Request): Promise<Exchange> => {
  const { bmc, req, method, path, base } = request;
  const text = await readBody(req);
  const make = (body: Doc): Exchange => ({
    bmc,
    now: Date.now(),
    method,
    path,
    params: {},
    headers: req.headers as Record<string, string | undefined>,
    body,
    hasBody: text.trim() !== '',
  });
  return make(withoutBase(parseBody(text), base) as Doc);
};

const kindOf = (faults: readonly ActiveFault[]): string | undefined =>
  faults.map(({ kind }) => kind).join('+') || undefined;

/** Answers a request. Never rejects: what breaks here ends as 500 or as a closed connection. */
export const serve = async (request: Request, record: Recorder): Promise<void> => {
  const { bmc, method, path } = request;
  const answered = bmc.traffic.arrives({ method, path, now: Date.now() });
  await answerTo(request, record);
  answered();
};

const answerTo = async (request: Request, record: Recorder): Promise<void> => {
  const { bmc, res, method, path } = request;
  try {
    bmc.requests[method] = (bmc.requests[method] ?? 0) + 1;
    const arrived = Date.now();
    advance(bmc, arrived);
    const health = managerIs(bmc, arrived);
    if (health === 'silent') return void res.destroy();
    if (health === 'starting')
      return send(
        request,
        errorAnswer(503, 'ServiceTemporarilyUnavailable', 'The service is starting.', { 'Retry-After': '1' }),
        false,
      );
    const x = await exchangeOf(request);
    if (bmc.latencyMs) await sleep(bmc.latencyMs(), undefined, { ref: false });
    const passer = { method, path, write: isWrite(method) };
    const left = leavesOf(request);
    const counts = !isSession(path);
    if (counts && !(await bmc.gate.enter(passer, left))) return void res.destroy();
    const before = faultsFor(bmc, 'before', { method, path, now: x.now });
    const struck = await strikeBefore(before, bmc);
    if (struck) {
      journal(record, x, {
        status: struck === 'drop' ? 0 : struck.status,
        answered: struck !== 'drop',
        fault: kindOf(before),
      });
      return struck === 'drop' ? void res.destroy() : send(request, struck, false);
    }
    const reply = finish(request, { ...x, now: Date.now() }, record);
    if (counts && !(await bmc.gate.leave(passer, left))) return void res.destroy();
    reply();
  } catch (thrown) {
    if (res.headersSent || res.destroyed) return void res.destroy();
    if (thrown instanceof Refusal) return send(request, refusalAnswer(thrown), false);
    send(
      request,
      { status: 500, body: errorBody('InternalError', 'The request failed due to an internal service error.') },
      false,
    );
  }
};

/** The part that must not be interrupted: execute and remember. Synchronous from end to end. @returns how to answer */
const finish = (request: Request, x: Exchange, record: Recorder): (() => void) => {
  const { bmc, method, path, query, res } = request;
  advance(bmc, x.now);
  const answer = attempt(method === 'HEAD' ? { ...x, method: 'GET' } : x, query);
  const after = faultsFor(bmc, 'after', { method, path, now: x.now });
  const dropped = after.some(({ kind }) => kind === 'drop-after-write');
  journal(record, x, { status: answer.status, answered: !dropped, fault: kindOf(after) });
  return dropped ? () => void res.destroy() : () => send(request, answer, after.length > 0);
};
