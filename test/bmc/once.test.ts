/** What counts as the BMC's answer to a command that must not be sent twice: its own yes and no, and nothing that is thrown. */

import { announcements } from '../../src/bmc/announce';
import type { Sent } from '../../src/bmc/converge';
import { announceAndSend, sendOnce } from '../../src/bmc/once';
import { errorOfFailure } from '../../src/bmc/redfish/transport/replies';
import { TemperError } from '../../src/model/errors';
import { contextWith, intentsOf } from './support/context';

const error = new TemperError('BmcUnreachable', { node: 'n', bmc: 'b', reason: 'no answer' });
const desired = { raw: 'x' };

const trial = (command: () => Promise<Sent>, signal = new AbortController().signal) => {
  const intents = intentsOf('send_raw');
  const client = {
    node: { uuid: 'n' as never },
    context: contextWith(intents, { signal }),
    facts: (more?: object) => ({ node: 'n', bmc: 'b', ...more }),
  };
  const sent = jest.fn(command);
  const send = () => sendOnce(client, { what: 'send raw bytes', desired, prepare: async () => ({ command: sent }) });
  return { intents, client, sent, send, last: () => intents.kept.at(-1)?.detail };
};

test('a yes is confirmed, and the next attempt sends nothing', async () => {
  const { send, sent, last } = trial(async () => ({ is: 'accepted' }));
  await send();
  expect(last()).toMatchObject({ desired, accepted: true });
  await expect(send()).resolves.toBeUndefined();
  expect(sent).toHaveBeenCalledTimes(1);
});

test('no answer is no yes: the intent stands unconfirmed, and no attempt sends again', async () => {
  const { send, sent, last } = trial(async () => ({ is: 'unknown', error }));
  await expect(send()).rejects.toMatchObject({ code: 'StepOutcomeUnknown' });
  expect(last()).toEqual({ desired, before: null });
  await expect(send()).rejects.toMatchObject({ code: 'StepOutcomeUnknown' });
  expect(sent).toHaveBeenCalledTimes(1);
});

test('what is thrown is neither yes nor no of the BMC: nothing was sent, and the next attempt sends', async () => {
  const { send, sent, last } = trial(async () => Promise.reject(new Error('the socket of this worker')));
  await expect(send()).rejects.toThrow('the socket of this worker');
  expect(last()).toMatchObject({ withdrawn: true });
  expect(last()).not.toHaveProperty('accepted');
  await expect(send()).rejects.toThrow('the socket of this worker');
  expect(sent).toHaveBeenCalledTimes(2);
});

test('what is thrown because the attempt was stopped says nothing: the intent stands', async () => {
  const stop = new AbortController();
  const { send, sent, last } = trial(async () => {
    stop.abort(new Error('stopped'));
    throw stop.signal.reason;
  }, stop.signal);
  await expect(send()).rejects.toThrow('stopped');
  expect(last()).toEqual({ desired, before: null });
  expect(sent).toHaveBeenCalledTimes(1);
});

test('a no is withdrawn and thrown as the BMC gave it', async () => {
  const refusal = new TemperError('BmcRejected', { node: 'n', bmc: 'b', what: 'x', status: 400, reason: 'no' });
  const { client, last } = trial(async () => ({ is: 'accepted' }));
  const refused = async (): Promise<Sent> => ({ is: 'refused', error: refusal, transient: false });
  await expect(announceAndSend(client, announcements(client.context, desired), { command: refused })).rejects.toBe(
    refusal,
  );
  expect(last()).toMatchObject({ withdrawn: true });
});

test.each([
  ['ECONNRESET', false],
  ['UND_ERR_SOCKET', false],
  ['UND_ERR_HEADERS_TIMEOUT', false],
  ['whatever comes next', false],
  ['ECONNREFUSED', true],
  ['UND_ERR_CONNECT_TIMEOUT', true],
])('a request that ends with %s cannot have been carried out: %s', (code, neverSent) => {
  const facts = { node: 'n', bmc: 'b', what: 'x' };
  const failed = errorOfFailure(Object.assign(new Error('x'), { code }), facts);
  expect(failed).toMatchObject({ neverSent, error: { code: 'BmcUnreachable' } });
});
