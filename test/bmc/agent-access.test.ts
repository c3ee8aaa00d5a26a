/** Who the ramdisk is and who we are to it: certificate, token, networks, redirects, and answers of no use. */
import { makeCertificate } from '../../emulator/agent/certificate';
import type { TemperError } from '../../src/model/errors';
import { intentsOf, quickTiming } from './support/context';
import { startDouble } from './support/double';
import { inStep, type RamdiskBench, startRamdiskBench } from './support/ramdisk';

const closing: { close(): Promise<unknown> }[] = [];
const bench = async (tls = true) => {
  const ramdisks: RamdiskBench = await startRamdiskBench(tls);
  closing.push(ramdisks);
  return { ramdisks, ...(await ramdisks.bench()) };
};
afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()));
});

const clean = { kind: 'clean' };

/** Everything that a reader of an error could see. */
const readable = (error: TemperError): string => `${error.message} ${JSON.stringify(error.facts)} ${error.stack}`;

describe('the certificate', () => {
  test('that was announced is accepted, whatever name is in it', async () => {
    const { run, ramdisks, agent } = await bench();
    const { port } = new URL(ramdisks.agents.url);
    const url = agent.url.replace(/\/\/[^/]*/, `//ramdisk.example.org:${port}`);
    const deps = { lookup: async () => ['127.0.0.1'] };
    await expect(run('agent_steps', {}, { ...clean, deps, node: { agent: { ...agent, url } } })).resolves.toBeDefined();
  });

  test('is the only one: another one is refused before anything is sent', async () => {
    const { failure, ramdisks, agent, journal } = await bench();
    await ramdisks.agents.renewCertificate();
    const error = await failure('agent_steps', {}, clean);
    expect(error).toMatchObject({ code: 'AgentTlsFailed', retry: false });
    expect(journal()).toEqual([]);
    expect(readable(error)).not.toContain(agent.token);
  });

  test('does not vouch for another one that it has signed', async () => {
    const { failure, ramdisks, agent, journal } = await bench();
    const authority = await makeCertificate('127.0.0.1', undefined, 'authority');
    const leaf = await makeCertificate('127.0.0.1', undefined, authority);
    await ramdisks.agents.renewCertificate(leaf);
    const error = await failure(
      'agent_steps',
      {},
      { ...clean, node: { agent: { ...agent, verify_ca: authority.cert } } },
    );
    expect(error).toMatchObject({ code: 'AgentTlsFailed', facts: { reason: 'ERR_TLS_CERT_NOT_PINNED' } });
    expect(journal()).toEqual([]);
  });

  test('that has expired is refused, even if it is the announced one', async () => {
    const { failure, ramdisks, agent } = await bench();
    const expired = await makeCertificate('127.0.0.1', new Date(Date.now() - 86_400_000));
    await ramdisks.agents.renewCertificate(expired);
    const error = await failure(
      'agent_steps',
      {},
      { ...clean, node: { agent: { ...agent, verify_ca: expired.cert } } },
    );
    expect(error).toMatchObject({ code: 'AgentTlsFailed', facts: { reason: 'CERT_HAS_EXPIRED' } });
  });

  test('that is none is refused', async () => {
    const { failure, agent } = await bench();
    const error = await failure('agent_steps', {}, { ...clean, node: { agent: { ...agent, verify_ca: 'rubbish' } } });
    expect(error).toMatchObject({ code: 'AgentTlsFailed' });
  });

  test('that was never announced is judged by the system, which does not know it', async () => {
    const { failure, agent } = await bench();
    const error = await failure('agent_steps', {}, { ...clean, node: { agent: { ...agent, verify_ca: null } } });
    expect(error).toMatchObject({ code: 'AgentTlsFailed' });
  });

  test('once announced forbids plain http', async () => {
    const { failure, agent, ramdisks } = await bench();
    const url = agent.url.replace('https:', 'http:');
    const error = await failure('agent_steps', {}, { ...clean, node: { agent: { ...agent, url } } });
    expect(error).toMatchObject({ code: 'AgentTlsFailed' });
    expect(ramdisks.agents.journal()).toEqual([]);
  });

  test('is not needed over plain http where none was announced', async () => {
    const { run } = await bench(false);
    await expect(run('agent_steps', {}, clean)).resolves.toBeDefined();
  });
});

describe('the token', () => {
  test('that is wrong is refused and shown nowhere', async () => {
    const { failure, agent } = await bench();
    const token = `not-${agent.token}`;
    const error = await failure('agent_steps', {}, { ...clean, node: { agent: { ...agent, token } } });
    expect(error).toMatchObject({ code: 'AgentAuthFailed', retry: false });
    expect(readable(error)).not.toContain(token);
  });

  test('that the ramdisk quotes is masked', async () => {
    const token = 'a-token-of-more-than-thirty-two-characters';
    const double = await startDouble((req) => ({ status: 400, body: { faultstring: `no such thing: ${req.url}` } }));
    closing.push(double);
    const { failure } = await bench(false);
    const agent = { url: double.url, token, version: null, verify_ca: null };
    const error = await failure('agent_steps', {}, { ...clean, node: { agent } });
    expect(error).toMatchObject({ code: 'AgentRejected' });
    expect(readable(error)).not.toContain(token);
    expect(readable(error)).toContain('***');
  });
});

describe('the address', () => {
  test('outside the networks of ramdisks is never connected to', async () => {
    const { failure, journal } = await bench();
    const deps = { agentNetworks: ['192.0.2.0/24'] };
    const error = await failure('agent_steps', {}, { ...clean, deps });
    expect(error).toMatchObject({ code: 'AgentAddressRefused', retry: false });
    expect(error.message).toContain('TEMPER_AGENT_NETWORKS');
    expect(journal()).toEqual([]);
  });

  test('in the networks of ramdisks need not be in those of BMCs', async () => {
    const { run } = await bench();
    const deps = { networks: ['192.0.2.0/24'], agentNetworks: ['127.0.0.0/8'] };
    await expect(run('agent_steps', {}, { ...clean, deps })).resolves.toBeDefined();
  });

  test.each(['ftp://127.0.0.1/x', 'http://user:secret@127.0.0.1:1/', 'nonsense'])('%s is refused', async (url) => {
    const { failure, agent } = await bench();
    const error = await failure('agent_steps', {}, { ...clean, node: { agent: { ...agent, url, verify_ca: null } } });
    expect(error).toMatchObject({ code: 'AgentRejected', retry: false });
    expect(readable(error)).not.toContain('secret@');
  });

  test('that is not known yet is waited for', async () => {
    const { failure } = await bench();
    const error = await failure('agent_steps', {}, { ...clean, node: { agent: undefined } });
    expect(error).toMatchObject({ code: 'AgentUnreachable', retry: true });
    expect(error.message).toMatch(/has not called back/);
  });
});

describe('an answer', () => {
  test('that redirects is not followed', async () => {
    const elsewhere = await startDouble(() => ({ status: 200, body: { commands: [] } }));
    const double = await startDouble(() => ({ status: 302, headers: { location: `${elsewhere.url}/v1/commands/` } }));
    closing.push(elsewhere, double);
    const { failure, agent } = await bench(false);
    const error = await failure('agent_steps', {}, { ...clean, node: { agent: { ...agent, url: double.url } } });
    expect(error).toMatchObject({ code: 'AgentRejected' });
    expect(error.message).toMatch(/redirects/);
    expect(elsewhere.requests).toEqual([]);
  });

  test.each([
    ['huge', 'AgentUnreachable', /far too large/],
    ['garbled', 'AgentServerError', /not JSON/],
    ['drop-before', 'AgentUnreachable', /closed without an answer/],
  ] as const)('that is %s becomes a clear error that is tried again', async (kind, code, says) => {
    const { failure, fault } = await bench();
    fault({ kind });
    const error = await failure('agent_steps', {}, clean);
    expect(error).toMatchObject({ code, retry: true });
    expect(error.message).toMatch(says);
  });

  test('that never comes ends with the time an answer may take', async () => {
    const { failure, fault } = await bench();
    fault({ kind: 'silent' });
    const error = await failure('agent_steps', {}, { ...clean, deps: { limits: { answerMs: 100 } } });
    expect(error).toMatchObject({ code: 'AgentUnreachable', retry: true });
    expect(error.message).toMatch(/too long/);
  });

  test('that never comes is not waited for once the act must stop', async () => {
    const { run, fault } = await bench();
    fault({ kind: 'silent', method: 'GET' });
    const stop = new AbortController();
    const pending = run('agent_steps', {}, { ...clean, signal: stop.signal });
    stop.abort(new Error('stop'));
    await expect(pending).rejects.toThrow('stop');
  });

  test('of the wrong types says where it makes no sense', async () => {
    const double = await startDouble(() => ({ status: 200, body: { commands: [{ id: 7 }] } }));
    closing.push(double);
    const { failure, agent } = await bench(false);
    const error = await failure('agent_steps', {}, { ...clean, node: { agent: { ...agent, url: double.url } } });
    expect(error).toMatchObject({ code: 'AgentServerError' });
    expect(error.message).toMatch(/commands\.0\.id/);
  });

  test('that fails while a command runs is asked for again', async () => {
    const { run, fault, destructive } = await bench();
    const beat = (told?: Readonly<Record<string, unknown>>) =>
      told?.status === 'RUNNING' && fault({ kind: 'drop-before', method: 'GET' });
    await run('agent_step', {}, { ...inStep('erase_devices'), beat: (told) => void beat(told) });
    expect(destructive()).toHaveLength(1);
  });

  test('that fails for long gives the worker back, and the next attempt goes on', async () => {
    const { run, failure, fault, ramdisks, mac, destructive } = await bench();
    const intents = intentsOf('agent_step');
    const drop = () => fault({ kind: 'drop-before', method: 'GET', remaining: 10_000 });
    let dropping = false;
    const beat = (told?: Readonly<Record<string, unknown>>) => {
      if (told?.status === 'RUNNING' && !dropping) drop();
      dropping ||= told?.status === 'RUNNING';
    };
    const timing = { ...quickTiming, powerTimeoutMs: 50 };
    const error = await failure('agent_step', {}, { ...inStep('erase_devices'), intents, beat, timing });
    expect(error).toMatchObject({ code: 'AgentUnreachable', retry: true });
    ramdisks.agents.clearFaults(mac);
    await run('agent_step', {}, { ...inStep('erase_devices'), intents, attempt: 2 });
    expect(destructive()).toHaveLength(1);
  });
});
