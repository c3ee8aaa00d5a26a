/** A node's history on the wire: what of its events is shown, in which form at which version, and to whom. */
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { happened, runningRun, type SeenRun } from '../support/happenings';
import type { Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const get = (who: Persona, path: string, minor = 115) => api.as(who, 'GET', path, { minor });

/** A run that was tried twice, parked and failed, with what does not belong into a history between. */
const story = async (): Promise<SeenRun & { readonly path: string }> => {
  const seen = await runningRun(api);
  await happened(api, seen, 'run.accepted', { verb: 'service' });
  await happened(api, seen, 'node.moved', { from: 'active', to: 'servicing', event: 'service' });
  await happened(api, seen, 'step.begun', { index: 0 });
  await happened(api, seen, 'step.tried', {
    step: 'power.reboot',
    attempt: 1,
    code: 'BmcBusy',
    error: 'password=geheim',
  });
  await happened(api, seen, 'step.parked', { index: 0, error: `E${'x'.repeat(300)}` });
  await happened(api, seen, 'run.failed', { from: 'servicing', to: 'service failed', error: 'It broke.' });
  return { ...seen, path: `/v1/nodes/${seen.node}/history` };
};

describe('a node’s history', () => {
  test('tells moves and errors in the order in which they happened, and nothing else', async () => {
    const { path } = await story();
    const { body } = await get('owner-reader', `${path}?detail=true`);
    expect(
      body.history.map((one: Record<string, unknown>) => [
        one.severity,
        one.event_type,
        one.state,
        String(one.event).slice(0, 40),
      ]),
    ).toEqual([
      ['INFO', 'transition', 'active', expect.stringMatching(/^Run .*/)],
      ['INFO', 'transition', 'servicing', 'The node moved from active to servicing.'],
      ['ERROR', 'provisioning', 'servicing', 'Attempt 1 of step power.reboot failed: p'],
      ['ERROR', 'provisioning', 'servicing', expect.stringMatching(/^Step 0 is parked: Ex+$/)],
      ['ERROR', 'provisioning', 'service failed', expect.stringMatching(/^Run .*/)],
    ]);
    expect(JSON.stringify(body)).not.toContain('geheim');
  });

  test('cuts long events short in a list, and shows them whole in detail and by themselves', async () => {
    const { path } = await story();
    const brief = (await get('operator', path)).body.history[3];
    expect(Object.keys(brief).sort()).toEqual(['created_at', 'event', 'links', 'severity', 'uuid']);
    expect(brief.event).toHaveLength(254);
    expect(brief.event.endsWith('...')).toBe(true);
    const whole = (await get('operator', `${path}/${brief.uuid}`)).body;
    expect(whole.event).toBe(`Step 0 is parked: E${'x'.repeat(300)}`);
    expect(whole.links).toEqual([{ href: `${api.url}${path}/${brief.uuid}`, rel: 'self' }]);
  });

  test.each([
    [78, []],
    [113, ['project']],
    [115, ['duration_seconds', 'project', 'state', 'target_provision_state']],
  ] as const)('at 1.%i adds %j', async (minor, added) => {
    const { path } = await story();
    const [one] = (await get('operator', `${path}?detail=true`, minor)).body.history;
    const always = ['conductor', 'created_at', 'event', 'event_type', 'links', 'severity', 'user', 'uuid'];
    expect(Object.keys(one).sort()).toEqual([...always, ...added].sort());
  });

  test('is not there before 1.78', async () => {
    const { path } = await story();
    expect((await get('operator', path, 77)).status).toBe(404);
  });

  test('is paged by marker, in both directions, with the same ids every time', async () => {
    const { path } = await story();
    const all: string[] = (await get('operator', path)).body.history.map(({ uuid }: { uuid: string }) => uuid);
    const walked: string[] = [];
    let next: string | undefined = `${api.url}${path}?limit=2`;
    while (next) {
      const { body } = await get('operator', next.slice(api.url.length));
      walked.push(...body.history.map(({ uuid }: { uuid: string }) => uuid));
      next = body.next;
    }
    expect(walked).toEqual(all);
    const down = (await get('operator', `${path}?sort_dir=desc&limit=1&marker=${all[3]}`)).body.history;
    expect(down[0].uuid).toBe(all[2]);
  });

  test('shows only the fields that were asked for', async () => {
    const { path } = await story();
    const { body } = await get('operator', `${path}?fields=uuid,event_type`);
    expect(Object.keys(body.history[0]).sort()).toEqual(['event_type', 'uuid']);
  });

  test.each([
    ['?sort_key=severity', 400],
    ['?limit=0', 400],
    ['?marker=6b7b5a52-6f0e-4ed1-a8f8-6e5e8d2f0c11', 404],
    ['?colour=red', 400],
    ['/6b7b5a52-6f0e-4ed1-a8f8-6e5e8d2f0c11', 404],
    ['/nonsense', 404],
  ])('refuses %s with %i', async (query, status) => {
    const { path } = await story();
    expect((await get('operator', `${path}${query}`)).status).toBe(status);
  });

  test('does not serve another node’s event, nor one that is no part of a history', async () => {
    const [mine, other] = [await story(), await story()];
    const [first] = (await get('operator', other.path)).body.history;
    const borrowed = await get('operator', `${mine.path}/${first.uuid}`);
    expect(borrowed.status).toBe(404);
    expect(faultOf(borrowed)).toContain('has no history event');
    const begun = await happened(api, mine, 'step.begun', {});
    const seqOf = (uuid: string) => Number.parseInt(uuid.slice(24), 16);
    const [own] = (await get('operator', mine.path)).body.history;
    expect(seqOf(own.uuid)).toBeLessThan(begun);
    const hidden = own.uuid.slice(0, 24) + begun.toString(16).padStart(12, '0');
    expect((await get('operator', `${mine.path}/${hidden}`)).status).toBe(404);
  });

  test.each([
    ['system-reader', 200],
    ['owner-reader', 200],
    ['lessee-admin', 403],
    ['stranger-admin', 404],
  ] as const)('%s: %i', async (who, status) => {
    const { path } = await story();
    const list = await get(who, path);
    expect(list.status).toBe(status);
    const [one] = (await get('operator', path)).body.history;
    expect((await get(who, `${path}/${one.uuid}`)).status).toBe(status);
  });
});
