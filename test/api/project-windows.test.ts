/** Windows on the wire: a project's managers set them; when each opens is shown by the clock of its zone. */
import { randomUUID } from 'node:crypto';
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { lessee, owner, type Persona } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());
beforeEach(() => api.sql`delete from project_windows`);

const path = '/temper/v1/windows';
const night = { name: 'night', days: ['sat', 'sun'], from: '22:00', minutes: 240, zone: 'Europe/Berlin' };
const post = (who: Persona, body: object) => api.as(who, 'POST', path, { body });

test('a window is added, shown and deleted by a manager, each with an audit row and an event for the project', async () => {
  const made = await post('lessee-manager', night);
  expect([made.status, made.body]).toEqual([201, expect.objectContaining({ ...night, project: lessee })]);
  expect(new Date(made.body.closes_at).getTime() - new Date(made.body.opens_at).getTime()).toBe(240 * 60_000);
  const one = `${path}/${made.body.uuid}`;
  expect((await api.as('lessee-reader', 'GET', one)).body).toEqual(made.body);
  expect((await api.as('lessee-reader', 'GET', path)).body.windows).toEqual([made.body]);
  expect((await api.as('lessee-manager', 'DELETE', one)).status).toBe(204);
  expect((await api.as('lessee-manager', 'GET', one)).status).toBe(404);
  const rows =
    await api.sql`select a.action, e.kind, e.project from audit a join events e on e.data->>'window_uuid' = a.resource_id
    and split_part(e.kind, '.', 2) like split_part(a.action, '.', 2) || '%' where a.resource_id = ${made.body.uuid} order by a.seq`;
  expect(rows.map(({ action, kind, project }) => [action, kind, project])).toEqual([
    ['window.create', 'window.created', lessee],
    ['window.delete', 'window.deleted', lessee],
  ]);
});

test('a zone in other letters is kept by its own name', async () => {
  const { status, body } = await post('lessee-manager', { ...night, zone: 'eUrOpE/bErLiN' });
  expect([status, body.zone]).toEqual([201, 'Europe/Berlin']);
});

test.each(['lessee-admin', 'stranger-admin'] as const)('%s sees and adds none of another project', async (who) => {
  const { body } = await post('owner-manager', night);
  expect((await api.as(who, 'GET', path)).body).toEqual({ windows: [] });
  expect((await post(who, { ...night, project: owner })).status).toBe(403);
  const after = async (marker: string) => {
    const reply = await api.as(who, 'GET', `${path}?marker=${marker}`);
    return [reply.status, reply.text.replaceAll(marker, 'X')];
  };
  const [hidden, missing] = [await after(body.uuid), await after(randomUUID())];
  expect(hidden).toEqual(missing);
});

test('an operator sees and deletes windows, and adds none', async () => {
  const { body } = await post('owner-manager', night);
  expect((await post('operator', { ...night, project: owner })).status).toBe(403);
  expect((await api.as('operator', 'DELETE', `${path}/${body.uuid}`)).status).toBe(204);
});

test.each([
  [{ days: [] }, 'never opens'],
  [{ days: ['someday'] }, 'days'],
  [{ from: '24:00' }, 'time of day'],
  [{ from: '9:00' }, 'time of day'],
  [{ minutes: 0 }, 'never opens'],
  [{ minutes: 10_081 }, 'minutes'],
  [{ zone: 'Europe/Atlantis' }, 'Europe/Berlin'],
  [{ zone: '+01:00' }, 'Europe/Berlin'],
  [{ name: 'a b' }, 'name'],
  [{ for: '4h' }, 'for'],
])('%j is refused', async (change, says) => {
  const reply = await post('owner-manager', { ...night, ...change });
  expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining(says)]);
});

test('a name is taken once in a project, and again in another', async () => {
  await post('owner-manager', night);
  expect((await post('owner-manager', night)).status).toBe(409);
  expect((await post('lessee-manager', night)).status).toBe(201);
});
